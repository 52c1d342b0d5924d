//! Units of systemd: `Environment=`, and the files of `EnvironmentFile=`.

use formats::settings::pairs;

use super::env::environment;
use super::{Form, ends};
use crate::config::{Read, SettingsError, obstacle};

pub(super) const SYSTEMD: Form = Form {
    id: "systemd",
    name: "a unit of systemd",
    fits: |name| ends(name, &[".service", ".socket", ".timer", ".container"]),
    read,
};

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let unit = pairs::unit(bytes)?;
    let mut read =
        Read { environment_files: unit.files, files_count_more: true, ..environment(&unit.environment) };
    // systemd.exec(5): what a file says comes over Environment=, which whoever reads the files sees to, and UnsetEnvironment= over both.
    if let Some(line) = unit.unset {
        for found in &mut read.found {
            found
                .settings
                .push(obstacle(line, "UnsetEnvironment= or PassEnvironment= changes what is set here"));
        }
    }
    Ok(read)
}

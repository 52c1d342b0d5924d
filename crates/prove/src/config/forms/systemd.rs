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
    let mut read = Read { environment_files: unit.files, ..environment(&unit.environment) };
    // systemd.exec(5): what a file says comes over Environment=, and UnsetEnvironment= over both.
    let file = read.environment_files.first().map(|(_, line)| *line);
    for found in &mut read.found {
        if let Some(line) = file {
            found.settings.push(obstacle(line, "the EnvironmentFile may set it again"));
        }
        if let Some(line) = unit.unset {
            found.settings.push(obstacle(line, "UnsetEnvironment= takes variables away"));
        }
    }
    Ok(read)
}

//! Units of systemd: `Environment=`, and the files of `EnvironmentFile=`.

use formats::settings::pairs;

use super::env::environment;
use super::{Form, ends};
use crate::config::{Read, SettingsError};

pub(super) const SYSTEMD: Form = Form {
    id: "systemd",
    name: "a unit of systemd",
    fits: |name| ends(name, &[".service", ".socket", ".timer", ".container"]),
    read,
};

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let unit = pairs::unit(bytes)?;
    Ok(Read { environment_files: unit.files, ..environment(&unit.environment) })
}

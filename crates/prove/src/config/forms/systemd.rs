//! Units of systemd: `Environment=`, and the files of `EnvironmentFile=`.

use formats::settings::pairs;

use super::env::environment;
use super::{Form, Variables, ends};
use crate::config::{Read, SettingsError, Unread, beside, obstacle};

pub(super) const SYSTEMD: Form = Form {
    id: "systemd",
    name: "a unit of systemd",
    fits: |name| ends(name, &[".service", ".socket", ".timer", ".container"]),
    read,
};

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let unit = pairs::unit(bytes)?;
    let text = formats::settings::text(bytes)?;
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
    // What a command is told on its line may be for the connection in its environment.
    let is_command = |line: &str| {
        let line = line.trim_start();
        line.starts_with("Exec") && beside::speaks_of_tls(line)
    };
    if let Some((at, _)) = text.lines().enumerate().find(|(_, line)| is_command(line)) {
        for found in &mut read.found {
            found.settings.push(obstacle(at + 1, "what a command is told of TLS is not read"));
        }
    }
    let is_other = |line: &str| !line.trim_start().starts_with(['#', ';']) && !line.contains("Environment");
    let may_connect = |line: &str| {
        line.contains("@tcp(") || (line.contains("://") && (line.contains("mysql") || line.contains("maria")))
    };
    if let Some((at, _)) = text.lines().enumerate().find(|(_, line)| is_other(line) && may_connect(line)) {
        read.unread
            .push(Unread { line: at + 1, why: "a command names a connection, and is not read".into() });
    }
    Ok(read)
}

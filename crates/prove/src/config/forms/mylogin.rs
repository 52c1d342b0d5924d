//! `.mylogin.cnf`: says that it is one, which login paths it has and for which hosts. A password in it is seen, never told.

use formats::mylogin::decode;
use formats::optfile::{Item, OptionFile};

use super::{Form, Variables};
use crate::config::{Read, SettingsError};

pub(super) const MYLOGIN: Form = Form {
    id: "mylogin",
    name: "a login file of mysql_config_editor",
    fits: |name| name.ends_with(".mylogin.cnf"),
    read,
};

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let plain = decode(bytes, "it")
        .map_err(|_| SettingsError::Syntax { line: 1, why: "it does not decipher as a login file" })?;
    let file = OptionFile::parse(&plain, "it")
        .map_err(|_| SettingsError::Syntax { line: 1, why: "what is deciphered is no option file" })?;
    let mut paths: Vec<(String, String, bool)> = Vec::new();
    for item in file.items() {
        match item {
            Item::Group { name, .. } => paths.push((name.to_owned(), String::new(), false)),
            Item::Option(option) => {
                if let Some((_, host, has_password)) = paths.last_mut() {
                    match option.key {
                        "host" => option.value.unwrap_or_default().clone_into(host),
                        "password" => *has_password = true,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let mut notes = vec![
        "this is a login file of mysql_config_editor: whoever can read it has the passwords in it, since its key stands in it too"
            .to_owned(),
    ];
    for (path, host, has_password) in paths {
        let host = if host.is_empty() { "no host".to_owned() } else { format!("host {host}") };
        let password = if has_password { "with a password (not shown)" } else { "without a password" };
        notes.push(format!(
            "login path {path}: {host}, {password}. It can hold no TLS option: these stand in option files; and -h sends the login to any host"
        ));
    }
    Ok(Read { notes, ..Read::default() })
}

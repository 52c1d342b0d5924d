//! Login files of the users of the machine. They hold passwords behind a veil that everybody can take off.

use formats::mylogin;
use formats::optfile::{Item, OptionFile};
use model::facts;

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::{Found, one_line};
use crate::search::homes_of;

pub const QUESTION: HostQuestion =
    HostQuestion { name: "login files", facts: &[&facts::job::LOGIN_FILES_OPEN], ask };

const NAME: &str = ".mylogin.cnf";
const OTHERS: u32 = 0o077;

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let (homes, why) = homes_of(found.host());
    let (mut open, mut unknown) = (Vec::new(), Vec::from_iter(why));
    for home in homes {
        let path = home.path.join(NAME);
        let of = match found.facts(&path) {
            Ok(Some(of)) if !of.is_dir && of.mode & OTHERS != 0 => of,
            Ok(_) => continue,
            Err(why) => {
                unknown.push(why);
                continue;
            }
        };
        let logins = match found.host().read(&path, mylogin::MYLOGIN_BYTES_MAX as u64) {
            Ok(bytes) => logins(&bytes.unwrap_or_default(), &path.display().to_string()),
            Err(error) => one_line(error),
        };
        open.push(format!("{} has mode {:04o}: {logins}", path.display(), of.mode));
    }
    asking.note_of_host(
        &facts::job::LOGIN_FILES_OPEN,
        list(&open, &unknown),
        "stat ~/.mylogin.cnf; mysql_config_editor print --all",
    );
}

/// The users and hosts of its login paths; never a password.
fn logins(bytes: &[u8], name: &str) -> String {
    let plain = match mylogin::decode(bytes, name) {
        Ok(plain) => plain,
        Err(error) => return error.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    let (file, _) = OptionFile::parse_until_error(&plain, name);
    let mut paths: Vec<(String, Option<String>, Option<String>)> = Vec::new();
    for item in file.items() {
        match item {
            Item::Group { name, .. } => paths.push((name.to_owned(), None, None)),
            Item::Option(option) => {
                let Some((_, user, host)) = paths.last_mut() else { continue };
                let value = option.value.map(|value| value.trim_matches('"').to_owned());
                match option.key {
                    "user" => *user = value,
                    "host" => *host = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let said: Vec<String> = paths
        .into_iter()
        .map(|(path, user, host)| {
            let (user, host) =
                (user.unwrap_or_else(|| "its user".into()), host.unwrap_or_else(|| "localhost".into()));
            format!("[{path}] {user} at {host}")
        })
        .collect();
    if said.is_empty() { "no login path".into() } else { said.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_hosts_of_a_login_file_are_told_and_no_password() {
        let plain = b"[client]\nuser = \"root\"\npassword = \"SECRET\"\nhost = \"db1\"\n[backup]\npassword = \"SECRET\"\n";
        let bytes = mylogin::encode(plain, &[7; mylogin::LOGIN_KEY_BYTES]).expect("short lines");
        let said = logins(&bytes, "f");
        assert_eq!(said, "[client] root at db1; [backup] its user at localhost");
        assert!(logins(b"not one", "f").contains("too early"), "{}", logins(b"not one", "f"));
    }
}

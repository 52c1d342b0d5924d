//! Option files: who reads the passwords in them, and who writes them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use formats::optfile::{Item, OptionFile, is_secret_key};
use model::{Value, facts};
use server::options::persisted;

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::{Found, one_line};

pub const QUESTION: HostQuestion = HostQuestion {
    name: "option files",
    facts: &[&facts::server::OPTION_SECRETS_OPEN, &facts::server::OPTION_FILES_WRITABLE],
    ask,
};

/// As `formats` reads them.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const OTHERS_READ: u32 = 0o004;
const OTHERS_WRITE: u32 = 0o002;

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let (secrets, writable) = match files(found) {
        Ok(files) => modes(found, &files),
        Err(why) => (Value::Unknown(why.clone()), Value::Unknown(why)),
    };
    asking.note_of_host(&facts::server::OPTION_SECRETS_OPEN, secrets, "stat FILE; grep -i pass FILE");
    asking.note_of_host(&facts::server::OPTION_FILES_WRITABLE, writable, "stat FILE");
}

/// The file that the server is started with, and those that it includes and that have options of it.
fn files(found: &Found<'_>) -> Result<BTreeSet<PathBuf>, String> {
    if found.has_no_option_files() {
        return Ok(BTreeSet::new());
    }
    let options = found.machine.options.as_ref().map_err(Clone::clone)?;
    let settings = options.settings.iter().filter(|setting| setting.group != persisted::GROUP);
    let mut files: BTreeSet<PathBuf> = settings.map(|setting| setting.file.clone()).collect();
    // The server leaves these out.
    files.extend(options.world_writable.iter().cloned());
    files.extend(found.machine.defaults_file.clone());
    if let Ok(sst) = &found.machine.sst {
        files.extend(sst.sst().settings.iter().map(|setting| setting.file.clone()));
    }
    Ok(files)
}

fn modes(found: &Found<'_>, files: &BTreeSet<PathBuf>) -> (Value, Value) {
    let (mut open, mut open_unknown) = (Vec::new(), Vec::new());
    let (mut writable, mut unknown) = (Vec::new(), Vec::new());
    for path in files {
        let of = match found.facts(path) {
            Ok(Some(of)) => of,
            Ok(None) => continue,
            Err(why) => {
                open_unknown.push(why.clone());
                unknown.push(why);
                continue;
            }
        };
        if of.mode & OTHERS_WRITE != 0 {
            writable.push(format!("{} has mode {:04o}", path.display(), of.mode));
        }
        if of.mode & OTHERS_READ == 0 {
            continue;
        }
        match found.host().read(path, FILE_BYTES_MAX) {
            Ok(Some(bytes)) => {
                // What stands in front of a mistake is read by programs too.
                let (file, _) = OptionFile::parse_until_error(&bytes, &path.display().to_string());
                let has_secret = file.items().any(|item| match item {
                    Item::Option(option) => is_password(option.key, option.value),
                    _ => false,
                });
                if has_secret {
                    open.push(format!("{} has mode {:04o}", path.display(), of.mode));
                }
            }
            Ok(None) => {}
            Err(error) => open_unknown.push(one_line(error)),
        }
    }
    (list(&open, &open_unknown), list(&writable, &unknown))
}

/// Whether an option gives a secret: not a number, a switch or a path, which settings about passwords have.
fn is_password(key: &str, value: Option<&str>) -> bool {
    let value = value.unwrap_or_default();
    if key.eq_ignore_ascii_case("password") {
        // Whatever it looks like.
        return !value.is_empty();
    }
    let is_setting = value.is_empty()
        || value.starts_with(['/', '.'])
        || value.starts_with("FILE:")
        || value.parse::<i64>().is_ok()
        || ["on", "off", "true", "false", "yes", "no"].iter().any(|word| value.eq_ignore_ascii_case(word));
    is_secret_key(key) && !is_setting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_about_passwords_is_no_password() {
        for (key, value, expected) in [
            ("password", Some("x"), true),
            ("wsrep-sst-auth", Some("u:p"), true),
            ("password", Some("12345"), true),
            ("password", None, false),
            ("max_password_errors", Some("10"), false),
            ("strict-password-validation", Some("OFF"), false),
            ("file_key_management_filekey", Some("FILE:/k"), false),
            ("ssl-key", Some("/k"), false),
        ] {
            assert_eq!(is_password(key, value), expected, "{key}");
        }
    }
}

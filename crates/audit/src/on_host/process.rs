//! The process of the server: whose it is, what stands on its command line and in its environment, and the machine's swap below it.

use model::{Value, facts};
use server::tls_library::{self, TlsLibrary, Verdict};

use super::HostQuestion;
use crate::asking::Asking;
use crate::beside::{Found, one_line};

pub const QUESTION: HostQuestion = HostQuestion {
    name: "process",
    facts: &[
        &facts::server::RUNS_AS_ROOT,
        &facts::server::PROGRAM_REPLACED,
        &facts::server::TLS_LIBRARY_FAULTS,
        &facts::server::ARGUMENT_SECRETS,
        &facts::server::ENVIRONMENT_SECRETS,
        &facts::rest::KEY_SERVER_CLEARTEXT,
        &facts::rest::SWAP,
    ],
    ask,
};

/// The kernel keeps 128 KiB of one string, and a quarter of the stack in all.
const ENVIRONMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
const SWAPS_BYTES_MAX: u64 = 64 * 1024;
const UUID_BYTES_MAX: u64 = 4 * 1024;
/// Options of servers whose value is a secret. Names that only have the word in them (`max_password_errors`) are none.
const SECRET_OPTIONS: [&str; 7] = [
    "wsrep_sst_auth",
    "report_password",
    "master_password",
    "password",
    "hashicorp_key_management_token",
    "file_key_management_filekey",
    "keyring_hashicorp_secret_id",
];
const URL_OPTIONS: [&str; 2] = ["hashicorp_key_management_vault_url", "keyring_hashicorp_server_url"];

fn tls_library_faults(libraries: &[TlsLibrary]) -> Value {
    let (mut faulty, mut unknown) = (Vec::new(), Vec::new());
    for library in libraries {
        match &library.verdict {
            Verdict::NoneKnown | Verdict::Fixed { .. } => {}
            Verdict::Faulty(faults) => {
                faulty.extend(faults.iter().map(|fault| format!("{library}: {fault}")));
            }
            Verdict::CannotTell(why) => unknown.push(format!("{library}: {why}")),
        }
    }
    super::list(&faulty, &unknown)
}

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let how = format!("ps -o user,args -p {}", found.process.pid);
    asking.note_of_host(&facts::server::RUNS_AS_ROOT, Value::Bool(found.process.uid == 0), &how);
    let program = found.of_process("exe");
    let replaced = match found.host().link(&program) {
        // Source: proc(5).
        Ok(Some(target)) => Value::Bool(target.to_string_lossy().ends_with(" (deleted)")),
        Ok(None) => Value::Unknown("its process has ended".into()),
        Err(error) => Value::Unknown(one_line(error)),
    };
    asking.note_of_host(&facts::server::PROGRAM_REPLACED, replaced, &format!("ls -l {}", program.display()));

    let said = tls_library::told_by(asking.view);
    let libraries = tls_library_faults(&tls_library::look(found.host(), &found.process, said));
    let maps = format!("grep libcrypto /proc/{}/maps", found.process.pid);
    asking.note_of_host(&facts::server::TLS_LIBRARY_FAULTS, libraries, &maps);

    let words = &found.process.command_line;
    let secrets: Vec<String> = words.iter().filter_map(|word| secret_option(word)).collect();
    asking.note_of_host(&facts::server::ARGUMENT_SECRETS, super::list(&secrets, &[]), &how);
    asking.note_of_host(
        &facts::server::ENVIRONMENT_SECRETS,
        environment(found),
        "tr '\\0' '\\n' < /proc/PID/environ",
    );

    let given = words.iter().filter_map(|word| option(word));
    let set = URL_OPTIONS.iter().filter_map(|&name| Some((name.to_owned(), asking.view.variable(name)?)));
    let mut clear: Vec<String> = given
        .filter(|(name, _)| URL_OPTIONS.contains(&name.as_str()))
        .chain(set)
        .filter(|(_, url)| url.trim().to_ascii_lowercase().starts_with("http://"))
        .map(|(name, _)| format!("{name} is a URL of http://"))
        .collect();
    clear.dedup();
    asking.note_of_host(&facts::rest::KEY_SERVER_CLEARTEXT, super::list(&clear, &[]), &how);
    let swap =
        if asking.view.variable("locked_in_memory") == Some("ON") { Value::Absent } else { swap(found) };
    asking.note_of_host(&facts::rest::SWAP, swap, "cat /proc/swaps");
}

/// `--loose-name=value` as name and value.
fn option(word: &str) -> Option<(String, &str)> {
    let (name, value) = word.strip_prefix("--")?.split_once('=')?;
    let name = formats::optfile::normalise_key(name).to_ascii_lowercase();
    Some((name.strip_prefix("loose_").unwrap_or(&name).to_owned(), value))
}

/// The name of an option that gives a secret; one that only names a file with it is none.
fn secret_option(word: &str) -> Option<String> {
    let (name, value) = option(word)?;
    let is_secret = SECRET_OPTIONS.contains(&name.as_str()) && !value.is_empty();
    // `user:` of wsrep_sst_auth has no password.
    let is_empty =
        name == "wsrep_sst_auth" && value.split_once(':').is_none_or(|(_, password)| password.is_empty());
    (is_secret && !is_empty && !value.starts_with("FILE:")).then_some(name)
}

fn environment(found: &Found<'_>) -> Value {
    let bytes = match found.host().read(&found.of_process("environ"), ENVIRONMENT_BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Value::Unknown("its process has ended".into()),
        Err(error) => return Value::Unknown(one_line(error)),
    };
    // Source: MySQL manual, Environment Variables.
    let has_one = bytes
        .split(|byte| *byte == 0)
        .any(|one| one.starts_with(b"MYSQL_PWD=") && one.len() > b"MYSQL_PWD=".len());
    if has_one { Value::Text("MYSQL_PWD".into()) } else { Value::Absent }
}

/// Source: proc(5), `/proc/swaps`: a header, then file name, type, size, used, priority. The names of mapped devices tell their kind in
/// their UUID: dm-crypt's begin with `CRYPT-` (`cryptsetup`, `lib/libdevmapper.c`).
fn swap(found: &Found<'_>) -> Value {
    let text = match found.host().read("/proc/swaps".as_ref(), SWAPS_BYTES_MAX) {
        Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Ok(None) => return Value::Unknown("the machine has no /proc/swaps".into()),
        Err(error) => return Value::Unknown(one_line(error)),
    };
    swap_of(&text, |path| found.host().read(path.as_ref(), UUID_BYTES_MAX).map_err(one_line))
}

fn swap_of(text: &str, read: impl Fn(&str) -> Result<Option<Vec<u8>>, String>) -> Value {
    let (mut clear, mut unknown) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace();
        let (Some(path), Some(kind)) = (words.next(), words.next()) else { continue };
        let device = path.strip_prefix("/dev/").unwrap_or_default();
        if device.starts_with("zram") {
            // It is memory itself.
            continue;
        }
        if kind == "file" {
            unknown.push(format!("{path} is a file: whether the disk below it is encrypted is not known"));
        } else if device.starts_with("dm-") {
            let uuid = format!("/sys/class/block/{device}/dm/uuid");
            match read(&uuid) {
                Ok(Some(uuid)) if uuid.starts_with(b"CRYPT-") => {}
                Ok(Some(_)) => unknown.push(format!("{path} lies on other devices, which are not looked at")),
                Ok(None) => unknown.push(format!("{uuid} is not there")),
                Err(why) => unknown.push(why),
            }
        } else {
            clear.push(format!("{path} is not encrypted by this machine"));
        }
    }
    super::list(&clear, &unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_with_a_secret_is_known_by_its_name_and_not_by_a_word_in_it() {
        for (word, expected) in [
            ("--wsrep-sst-auth=u:p", Some("wsrep_sst_auth")),
            ("--wsrep_sst_auth=u:", None),
            ("--loose-hashicorp-key-management-token=x", Some("hashicorp_key_management_token")),
            ("--file-key-management-filekey=FILE:/k", None),
            ("--file-key-management-filekey=x", Some("file_key_management_filekey")),
            ("--report-password=x", Some("report_password")),
            ("--report-password=", None),
            ("--max-password-errors=10", None),
            ("--default-password-lifetime=365", None),
            ("--caching-sha2-password-auto-generate-rsa-keys=OFF", None),
        ] {
            assert_eq!(secret_option(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn swap_counts_as_encrypted_only_behind_a_layer_that_encrypts() {
        let check = |lines: &str| {
            let text = format!("Filename Type Size Used Priority\n{lines}");
            let read = |path: &str| match path {
                "/sys/class/block/dm-0/dm/uuid" => Ok(Some(b"CRYPT-PLAIN-swap\n".to_vec())),
                "/sys/class/block/dm-1/dm/uuid" => Ok(Some(b"LVM-abc\n".to_vec())),
                "/sys/class/block/dm-2/dm/uuid" => Ok(None),
                _ => Err("no".to_owned()),
            };
            match swap_of(&text, read) {
                Value::Text(_) => "clear",
                Value::Absent => "absent",
                _ => "unknown",
            }
        };
        assert_eq!(check(""), "absent");
        assert_eq!(check("/dev/dm-0 partition 1 0 -2\n"), "absent");
        assert_eq!(check("/dev/zram0 partition 1 0 100\n"), "absent");
        for unknown in [
            "/dev/dm-1 partition 1 0 -2",
            "/dev/dm-2 partition 1 0 -2",
            "/dev/dm-3 partition 1 0 -2",
            "/swapfile file 1 0 -2",
        ] {
            assert_eq!(check(unknown), "unknown", "{unknown}");
        }
        assert_eq!(check("/dev/sda2 partition 1 0 -2\n/swapfile file 1 0 -2\n"), "clear");
    }
}

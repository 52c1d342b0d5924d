//! The names of servers' options: a server takes the beginning of a name for the whole, where it is the beginning of one only.
//!
//! Source: `--verbose --help` of mariadbd 10.11.19 and 11.8.9 (Debian) and mysqld 9.7.4, with `_` for `-`, all in one list: a beginning
//! that is of one option with one server and of two with another is left as it stands.
// Seen: mariadbd 10.11.19 and mysqld 9.7.4 with max-connection=77 start, and SHOW VARIABLES has max_connections 77.

use std::sync::LazyLock;

const NAMES: &str = include_str!("names.txt");
/// A plan resolves option files dozens of times, and each line of them asks.
static LINES: LazyLock<Vec<&'static str>> = LazyLock::new(|| NAMES.lines().collect());

/// Does a server read this group, and not a client?
pub(super) fn is_of_a_server(group: &str) -> bool {
    let group = group.to_ascii_lowercase();
    let is_version = |rest: &str| {
        rest.is_empty() || rest.trim_start_matches('-').starts_with(|one: char| one.is_ascii_digit())
    };
    ["mysqld", "mariadb", "mariadbd"].iter().any(|name| group.strip_prefix(name).is_some_and(is_version))
        || ["server", "galera", "client-server"].iter().any(|name| group.starts_with(name))
}

/// The whole name of an option of which this is the beginning, and of no other; `None` where it is a name itself, or of none.
pub(super) fn whole_name(key: &str) -> Option<&'static str> {
    let names = &*LINES;
    // Sorted by bytes: what begins so stands in a row, and the name itself first.
    let from = names.partition_point(|name| *name < key);
    let mut begin_so = names.get(from..)?.iter().take_while(|name| name.starts_with(key));
    let first = begin_so.next().filter(|name| **name != key)?;
    begin_so.next().is_none().then_some(*first)
}

/// One option as a server reads it.
pub(super) struct ReadOption {
    pub key: String,
    pub value: Option<String>,
    /// Where a beginning stands for it.
    pub whole_of_prefix: Option<&'static str>,
}

/// `key` has `_` for `-`. Names count in any case; `skip_` and `disable_` switch off what follows them (with `=0` on), `enable_` on.
///
/// # Source
/// Seen: mariadbd 10.11.19 --help --verbose with each of them; "Program Option Modifiers" in MySQL's manual.
pub(super) fn as_a_server_reads(key: &str, value: Option<&str>) -> ReadOption {
    let written = key.to_ascii_lowercase();
    let (mut rest, mut switched) = (written.as_str(), None);
    loop {
        let whole = whole_name(rest);
        if whole.is_some() || is_name(rest) {
            let value = match switched {
                None => value.map(str::to_owned),
                Some(false) => Some(if value == Some("0") { "1" } else { "0" }.to_owned()),
                Some(true) => Some(value.unwrap_or("1").to_owned()),
            };
            let key = whole.unwrap_or(rest).to_owned();
            return ReadOption { key, value, whole_of_prefix: whole };
        }
        let modifiers =
            [("loose_", None), ("skip_", Some(false)), ("disable_", Some(false)), ("enable_", Some(true))];
        let found = modifiers.iter().find_map(|(word, means)| Some((rest.strip_prefix(word)?, *means)));
        let Some((behind, means)) = found else {
            // No option that we know of.
            return ReadOption { key: written, value: value.map(str::to_owned), whole_of_prefix: None };
        };
        (rest, switched) = (behind, means);
    }
}

fn is_name(key: &str) -> bool {
    LINES.binary_search(&key).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_the_whole_name_where_it_is_of_one_option() {
        assert!(NAMES.lines().is_sorted(), "names.txt is sorted");
        for (key, whole) in [
            ("max_connection", Some("max_connections")),
            ("max_connections", None),
            // Of two.
            ("max_connect", None),
            // One of them itself.
            ("plugin_load", None),
            ("ssl", None),
            ("ssl_ci", Some("ssl_cipher")),
            ("no_such_option", None),
            ("zzz", None),
        ] {
            assert_eq!(whole_name(key), whole, "{key}");
        }
    }

    /// Each was given to mariadbd 10.11.19 in a file, and its --help --verbose says what became of it.
    #[test]
    fn modifiers_and_letters_of_any_case_are_read_as_mariadbd_reads_them() {
        let check = |written: &str, key: &str, expected: Option<&str>| {
            let (name, value) =
                written.split_once('=').map_or((written, None), |(name, value)| (name, Some(value)));
            let read = as_a_server_reads(&name.replace('-', "_"), value);
            assert_eq!((read.key.as_str(), read.value.as_deref()), (key, expected), "{written}");
        };
        check("skip-require-secure-transport", "require_secure_transport", Some("0"));
        check("skip-require-secure-transport=1", "require_secure_transport", Some("0"));
        check("skip-require-secure-transport=0", "require_secure_transport", Some("1"));
        check("loose-skip-ssl", "ssl", Some("0"));
        check("skip-loose-ssl", "ssl", None);
        check("disable-ssl", "ssl", Some("0"));
        check("enable-ssl=0", "ssl", Some("0"));
        check("enable-ssl", "ssl", Some("1"));
        check("Require_Secure_Transport=OFF", "require_secure_transport", Some("OFF"));
        check("WSREP-SST-M=mysqldump", "wsrep_sst_method", Some("mysqldump"));
        check("skip-requ", "require_secure_transport", Some("0"));
        check("skip-name-resolve", "skip_name_resolve", None);
        check("skip-networking", "skip_networking", None);
        check("skip-ssl-cert", "ssl_cert", Some("0"));
        check("no-such-Option=X", "no_such_option", Some("X"));
    }

    #[test]
    fn only_servers_read_the_names_of_servers() {
        for (group, is) in [
            ("mysqld", true),
            ("mysqld-8.4", true),
            ("MariaDB-10.11", true),
            ("mariadb", true),
            ("mariadb-client", false),
            ("client", false),
            ("mysql", false),
            ("mysqldump", false),
            ("mysqld_safe", false),
            ("mysqld2", true),
            ("client-server", true),
        ] {
            assert_eq!(is_of_a_server(group), is, "{group}");
        }
    }
}

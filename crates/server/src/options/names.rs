//! The names of servers' options: a server takes the beginning of a name for the whole, where it is the beginning of one only.
//!
//! Source: `--verbose --help` of mariadbd 10.11.19 and 11.8.9 (Debian) and mysqld 9.7.4, with `_` for `-`, all in one list: a beginning
//! that is of one option with one server and of two with another is left as it stands.
// Seen: mariadbd 10.11.19 and mysqld 9.7.4 with max-connection=77 start, and SHOW VARIABLES has max_connections 77.

use std::sync::LazyLock;

const NAMES: &str = include_str!("names.txt");

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
    // A plan resolves option files dozens of times, and each line of them asks.
    static LINES: LazyLock<Vec<&'static str>> = LazyLock::new(|| NAMES.lines().collect());
    let names = &*LINES;
    // Sorted by bytes: what begins so stands in a row, and the name itself first.
    let from = names.partition_point(|name| *name < key);
    let mut begin_so = names.get(from..)?.iter().take_while(|name| name.starts_with(key));
    let first = begin_so.next().filter(|name| **name != key)?;
    begin_so.next().is_none().then_some(*first)
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

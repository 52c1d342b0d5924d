//! What comes from outside: key files, keyrings, lines of error logs, data directories in which anything may lie.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rest_ops::material::{self, NoKeys};
use rest_ops::{groups, log};

/// Bytes that get past the first checks, and others.
fn key_file() -> impl Strategy<Value = Vec<u8>> {
    let any_bytes = proptest::collection::vec(any::<u8>(), 0..300);
    let line = (any::<u32>(), "[0-9a-fA-F]{0,70}", "[ #;\t]{0,3}")
        .prop_map(|(id, hex, end)| format!("{id};{hex}{end}\n"));
    let lines = proptest::collection::vec(line, 0..4).prop_map(|lines| lines.concat().into_bytes());
    let element = ("[a-zA-Z-]{0,20}", "[0-9a-f]{0,65}")
        .prop_map(|(name, hex)| format!("{{\"data_id\":\"{name}\",\"data\":\"{hex}\"}}"));
    let ring = proptest::collection::vec(element, 0..3)
        .prop_map(|all| format!("{{\"version\":\"1.0\",\"elements\":[{}]}}", all.join(",")).into_bytes());
    (prop_oneof![any_bytes, lines, ring], any::<bool>())
        .prop_map(|(bytes, is_sealed)| if is_sealed { [&b"Salted__"[..], &bytes].concat() } else { bytes })
}

proptest! {
    #[test]
    fn no_key_file_panics_and_nothing_of_it_is_in_what_is_said(bytes in key_file(), pass: Option<Vec<u8>>) {
        for said in [material::mariadb(&bytes, pass.as_deref()), material::keyring(&bytes)] {
            match said {
                Ok(keys) => {
                    for name in keys.names() {
                        prop_assert!(keys.get(name).is_some());
                    }
                    // Names are shown, and keys are not.
                    let shown = format!("{keys:?}");
                    for name in keys.names() {
                        let hex = hex_of(keys.get(name).unwrap());
                        prop_assert!(hex.len() < 16 || !shown.contains(&hex));
                    }
                }
                Err(NoKeys::Damaged(why)) => prop_assert!(why.len() < 200, "{why}"),
                Err(_) => {}
            }
        }
    }

    #[test]
    fn no_log_panics_and_each_sign_is_a_line_of_it(lines in proptest::collection::vec(".{0,80}", 0..20), at in 0..20_usize) {
        let mut lines = lines;
        let known = "2026-11-27  4:23:05 0 [ERROR] InnoDB: Obtaining redo log encryption key version 1 failed";
        if at < lines.len() {
            lines[at] = known.to_owned();
        }
        let (newest, _) = log::newest_start(&lines);
        for sign in log::signs(newest) {
            prop_assert!(lines.iter().any(|line| line.starts_with(&sign.line)));
        }
    }

    /// A tablespace, a table of Aria, a log and a link of nothing but chance.
    #[test]
    fn no_data_directory_panics(bytes in proptest::collection::vec(any::<u8>(), 0..2000), tail: u64) {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, start: &[u8]| {
            std::fs::write(home.path().join(name), [start, &bytes, &tail.to_be_bytes()].concat()).unwrap();
        };
        write("ibdata1", &[]);
        write("ib_logfile0", &[0xf0, 0x9f, 0x97, 0x9d]);
        write("a.MAI", &[0xfe, 0xfe, 9, 3]);
        write("a.MAD", &[]);
        write("binlog.000001", b"\xfebin");
        write("relay.000001", b"\xfdbin");
        write("t.isl", b"../");
        let needs = disk::needs(home.path()).unwrap();
        let keys = material::mariadb(format!("1;{}", "ab".repeat(32)).as_bytes(), None).unwrap();
        let tried = groups::opened_by(&needs, &keys);
        prop_assert_eq!(tried.opened, 0);
        let _ = groups::nameless(&needs);
    }
}

fn hex_of(bytes: &[u8]) -> String {
    model::hex(bytes)
}

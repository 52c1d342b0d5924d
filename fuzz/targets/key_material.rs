//! Key files, keyrings and lines of error logs, as they lie on a machine of anybody's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rest_ops::material::{keyring, mariadb};
use rest_ops::log;

fuzz_target!(|bytes: &[u8]| {
    for pass in [None, Some(&b"pass"[..])] {
        for found in [mariadb(bytes, pass), keyring(bytes)].into_iter().flatten() {
            assert!(found.names().all(|name| found.get(name).is_some()));
        }
    }
    let lines: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    for sign in log::signs(log::newest_start(&lines).0) {
        assert!(lines.iter().any(|line| line.starts_with(&sign.line)));
    }
});

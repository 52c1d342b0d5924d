//! Lines of error logs. The module is taken by its path: the crate around it would bring the whole product into this build.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/rest-ops/src/log.rs"]
mod log;

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    for sign in log::signs(log::newest_start(&lines).0) {
        assert!(lines.iter().any(|line| line.starts_with(&sign.line)));
    }
});

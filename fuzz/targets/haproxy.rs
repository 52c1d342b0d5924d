//! What HAProxy answers over its admin socket: names that were read can be written into a command, and nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::haproxy::{AdminState, SERVERS_MAX, done, servers, set_state, stat};

fuzz_target!(|bytes: &[u8]| {
    let _ = done(bytes);
    let rows = servers(bytes).unwrap_or_default();
    assert!(rows.len() <= SERVERS_MAX);
    for row in rows {
        let command = set_state(&row.backend, &row.server, AdminState::Drain).expect("a name was read");
        assert_eq!(command.matches(['\n', ';']).count(), 1);
    }
    for row in stat(bytes).unwrap_or_default() {
        assert!(!row.status.contains(char::is_control));
    }
});

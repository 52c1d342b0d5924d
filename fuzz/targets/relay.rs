//! Two ends that say anything, cut anywhere: a passive relay hands it on, an active one holds back no more than it needs.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use prove::relay::{Active, Change, Config, Relay};

fuzz_target!(|bytes: &[u8]| {
    let [flags, cut, bytes @ ..] = bytes else { return };
    let change = (flags & 2 != 0).then(|| Change::new("abcd", "xy").expect("sound"));
    // A key pair takes too long to make for each run: what it does is in the tests.
    let active = Active { strip: flags & 1 != 0, substitute_key: None, change };
    let is_active = active.is_active();
    let mut relay = Relay::new(Arc::new(Config { active, password: None }), 3306, &[]);
    let (mut up, mut down, mut for_server, mut for_client) = (vec![], vec![], vec![], vec![]);
    for piece in bytes.chunks(usize::from(*cut).max(1)) {
        // The first byte says who speaks.
        let [who, piece @ ..] = piece else { continue };
        if who & 1 == 0 {
            relay.from_client(piece);
            up.extend_from_slice(piece);
        } else {
            relay.from_server(piece);
            down.extend_from_slice(piece);
        }
        for_server.extend(relay.take_for_server());
        for_client.extend(relay.take_for_client());
    }
    relay.server_ended();
    for_client.extend(relay.take_for_client());
    if !is_active {
        assert_eq!((up, down), (for_server, for_client));
    }
    let _ = relay.take_events();
    let (told, findings, outcome) = relay.finish();
    assert!(findings.is_sorted_by_key(|finding| finding.what));
    let _ = format!("{told:?} {outcome:?}");
});

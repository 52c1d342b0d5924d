//! A grant out of an archive, and what a proxy answers: its log, and refusals.
#![no_main]

use libfuzzer_sys::fuzz_target;
use share::grant::SignedGrant;
use share::keys::PublicIdentity;
use share::proxy::log::LogHead;
use share::proxy::protocol::{AuditAnswer, OpenAnswer, PutGrant, Refusal, SignedWish, StateAnswer};

/// Of the vectors in crates/share/testdata: its secret part is known, and no grant of the corpus is signed by it.
const OWNER: &str = include_str!("../../crates/share/testdata/vectors.json");

fuzz_target!(|bytes: &[u8]| {
    thread_local! {
        static KEY: PublicIdentity = {
            let all: serde_json::Value = serde_json::from_str(OWNER).expect("the vectors are JSON");
            serde_json::from_value(all["owner"]["public"].clone()).expect("a public key")
        };
    }
    if let Ok(grant) = serde_json::from_slice::<SignedGrant>(bytes) {
        assert!(KEY.with(|owner| grant.by(owner)).is_err());
    }
    if let Ok(page) = serde_json::from_slice::<AuditAnswer>(bytes) {
        let end = page.lines.iter().try_fold(LogHead::START, |head, line| head.follow(line));
        if let Some(end) = end {
            assert_eq!(end.number, page.lines.len() as i64);
        }
    }
    let _ = serde_json::from_slice::<PutGrant>(bytes);
    let _ = serde_json::from_slice::<SignedWish>(bytes);
    let _ = serde_json::from_slice::<OpenAnswer>(bytes);
    let _ = serde_json::from_slice::<StateAnswer>(bytes);
    if let Ok(refusal) = serde_json::from_slice::<Refusal>(bytes) {
        assert!((400..600).contains(&refusal.status()));
    }
});

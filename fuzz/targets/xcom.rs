//! What a Group Replication port may answer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(version)) = wire::xcom::parse_version_reply(bytes) {
        assert!(bytes.len() >= wire::xcom::HEADER_BYTES && version > 0);
    }
});

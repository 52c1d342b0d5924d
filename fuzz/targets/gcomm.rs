//! What a Galera port may say first.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(_)) = wire::gcomm::parse(bytes) {
        assert!(bytes.len() >= wire::gcomm::HEADER_BYTES + 36);
    }
});

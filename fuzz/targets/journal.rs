//! The journal of a change: a copy may come from a node, and a power cut may have torn it.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(parsed) = change::journal::parse(bytes, Path::new("fuzz")) {
        assert!(parsed.torn_bytes <= bytes.len() as u64);
    }
});

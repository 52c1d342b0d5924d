//! The head of an archive that somebody sent: read before anything of it is believed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use share::header::{Header, PREAMBLE_BYTES};

fuzz_target!(|bytes: &[u8]| {
    if let Some(preamble) = bytes.first_chunk::<PREAMBLE_BYTES>() {
        let _ = Header::rest_bytes(preamble);
    }
    if let Ok(header) = Header::parse(bytes) {
        assert_eq!(header.bytes(), bytes);
        // Nobody has signed it.
        assert!(header.is_by(&header.core.owner).is_err());
    }
});

//! Is a segment of a connection that was joined in its middle MySQL in clear text?
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if wire::is_mysql_segment(bytes) {
        // A TLS record must never be taken for it: that would be an accusation.
        assert!(wire::classify_segment(bytes) == wire::SegmentShape::NotTls || bytes.len() < 8);
    }
});

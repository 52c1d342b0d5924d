//! What capture asks of each segment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{SegmentShape, classify_segment, starts_with_client_hello};

fuzz_target!(|segment: &[u8]| {
    let shape = classify_segment(segment);
    if starts_with_client_hello(segment) {
        assert!(segment.len() > 5);
    }
    if let SegmentShape::TlsRecord { len, .. } = shape {
        assert!(len <= wire::tls::RECORD_BYTES_MAX);
    }
});

//! What a backup tool, or somebody in its place, writes as a stream: any chunk, and its body.
#![no_main]

use formats::xbstream::{HEAD_BYTES_MAX, Kind, PATH_BYTES_MAX, PAYLOAD_BYTES_MAX, Parsed, check, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Ok(Parsed::Needs(more)) => assert!(more > bytes.len() && more <= HEAD_BYTES_MAX),
        Ok(Parsed::Head { head, bytes: used }) => {
            assert!((1..=PATH_BYTES_MAX).contains(&head.path.len()));
            assert!(head.payload_bytes as u64 <= PAYLOAD_BYTES_MAX);
            let body = bytes.get(used..).unwrap_or_default();
            let body = body.get(..head.body_bytes()).unwrap_or(body);
            if let Ok(read) = check(&head, body) {
                assert_eq!(read.payload.len(), head.payload_bytes);
                let mapped: u64 = read.runs.iter().map(|run| u64::from(run.write_bytes)).sum();
                assert!(head.kind != Kind::Sparse || mapped == head.payload_bytes as u64);
            }
        }
        Err(_) => {}
    }
});

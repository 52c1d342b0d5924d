//! What a peer of a copy sends, behind its authentication: any body of any type, and entries as they were written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stream::entry::Entry;
use stream::frame::{self, HEADER_BYTES};

fuzz_target!(|bytes: &[u8]| {
    let Some((header, body)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return };
    if let Ok(length) = frame::body_bytes(*header)
        && let Some(body) = body.get(..length)
        && let Ok(frame) = frame::parse(header[0], body)
    {
        // A reason is made printable, and modes lose bits that nobody takes.
        if !matches!(frame, frame::Frame::Failed(_) | frame::Frame::Entries(_)) {
            assert_eq!(frame::encode(&frame).get(HEADER_BYTES..), Some(body));
        }
    }
    let mut rest = bytes;
    while let Ok((entry, after)) = Entry::parse(rest) {
        assert_eq!(entry.check(), Ok(()));
        let mut again = Vec::new();
        entry.encode(&mut again);
        assert_eq!(Entry::parse(&again), Ok((entry, &[][..])));
        rest = after;
    }
});

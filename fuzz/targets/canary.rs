//! The search for canaries in a stream. The first byte says how the stream is cut, which must make no difference; each
//! byte 0xca in the rest stands for a whole canary, so that the noise is about what lies round them.
#![no_main]

use capture::Canary;
use capture::canary::Scanner;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let canary = Canary::new([7; 16]);
    let mut stream = Vec::new();
    for byte in bytes {
        match byte {
            0xca => stream.extend_from_slice(canary.token().as_bytes()),
            other => stream.push(*other),
        }
    }
    let count = |step: usize| {
        let (mut scanner, mut scratch, mut offset) = (Scanner::default(), Vec::new(), 0);
        for piece in stream.chunks(step) {
            scanner.feed(piece, offset, &mut scratch);
            offset += piece.len() as u64;
        }
        (scanner.counts().clone(), scanner.evidence().is_some())
    };
    assert_eq!(count(usize::from(*first) + 1), count(stream.len().max(1)));
});

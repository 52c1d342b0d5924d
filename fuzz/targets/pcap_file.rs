//! A capture file: packets do not depend on how the file comes, and what must be held is bounded.
#![no_main]

use capture::file::{HELD_BYTES_MAX, Reader};
use libfuzzer_sys::fuzz_target;

fn read(file: &[u8], step: usize) -> (Vec<(u64, Vec<u8>)>, bool) {
    let (mut reader, mut held, mut seen) = (Reader::new(), Vec::new(), Vec::new());
    for piece in file.chunks(step) {
        held.extend_from_slice(piece);
        let used = reader.read(&held, &mut |packet| {
            let _ = capture::layers::frame(packet.link, packet.bytes);
            seen.push((packet.unix_ms, packet.bytes.to_vec()));
        });
        match used {
            Ok(used) => drop(held.drain(..used)),
            Err(_) => return (seen, true),
        }
        assert!(held.len() <= HELD_BYTES_MAX);
    }
    (seen, false)
}

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(read(bytes, 1), read(bytes, bytes.len().max(1)));
});

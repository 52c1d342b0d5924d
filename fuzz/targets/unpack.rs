//! The compressed protocol, by zlib and by zstd: no more comes out than a packet announces, and it ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prove::sniff::unpack::{Inflater, Method, Unpack};

fuzz_target!(|bytes: &[u8]| {
    let [first, bytes @ ..] = bytes else { return };
    let method = if first & 1 == 0 { Method::Zlib } else { Method::Zstd };
    let mut inflater = Inflater::default();
    let whole = |step: usize, inflater: &mut Inflater| {
        let (mut unpack, mut seen) = (Unpack::new(method), 0_u64);
        for piece in bytes.chunks(step) {
            unpack.feed(piece, inflater, &mut |piece| seen += piece.len() as u64);
        }
        unpack.drop_held(inflater);
        seen
    };
    // However it is cut; of a packet that does not end nothing compressed is seen.
    assert_eq!(whole(usize::from(*first).max(1), &mut inflater), whole(bytes.len().max(1), &mut inflater));
});

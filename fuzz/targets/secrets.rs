//! What stands in a log or a history: any bytes, cut anywhere. The first byte says how long a piece is.
#![no_main]

use formats::secrets::{Hit, Search};
use libfuzzer_sys::fuzz_target;

fn hits(mut search: Search, pieces: impl Iterator<Item: AsRef<[u8]>>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for piece in pieces {
        search.push(piece.as_ref(), &mut hits);
    }
    search.finish(&mut hits);
    hits
}

fuzz_target!(|bytes: &[u8]| {
    let Some((piece, text)) = bytes.split_first() else { return };
    let piece = usize::from(*piece).max(1);
    for search in [Search::plain, Search::history] {
        let at_once = hits(search(), std::iter::once(text));
        assert_eq!(at_once, hits(search(), text.chunks(piece)));
        assert!(at_once.iter().all(|hit| hit.offset < text.len() as u64));
    }
});

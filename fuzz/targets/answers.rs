//! Answers to statements, cut anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::answers::Rows;
use wire::prepared::Cell;
use wire::{AnswerReader, Capabilities};

fuzz_target!(|input: (Vec<u8>, u8, u16)| {
    let (bytes, flags, cut) = input;
    let capabilities = if flags & 1 == 0 { Capabilities::default() } else { Capabilities::DEPRECATE_EOF };
    let cells = [Cell::Fixed { bytes: 4 }, Cell::Counted];
    let rows = if flags & 4 == 0 { Rows::Text } else { Rows::Binary(&cells) };
    let (head, tail) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let read = |pieces: &[&[u8]]| {
        let mut reader = AnswerReader::new(capabilities, flags & 2 != 0);
        reader.begin();
        let mut said = None;
        for piece in pieces {
            match reader.feed(piece, rows) {
                Ok(None) => {}
                Ok(Some(answer)) => said = Some(answer),
                Err(_) => return None,
            }
        }
        said
    };
    // Where it was cut changes nothing, but for what comes behind its end.
    if let (Some(whole), Some(cut)) = (read(&[&bytes]), read(&[head, tail])) {
        assert_eq!(whole, cut);
    }
});

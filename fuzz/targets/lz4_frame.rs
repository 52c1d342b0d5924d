//! A compressed file of a backup: any frames of LZ4.
#![no_main]

use formats::lz4::{Decoder, Step};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut decoder, mut rest) = (Decoder::default(), bytes);
    while let Ok(step) = decoder.step(rest) {
        assert!(decoder.output().len() <= 4 << 20);
        match step {
            Step::Needs(more) => {
                assert!(more > rest.len());
                break;
            }
            Step::Took(used) => rest = rest.get(used..).expect("no more than was offered"),
        }
    }
});

//! The first bytes of any file: what asks for more must be content with what it asked for.
#![no_main]

use formats::leftover::{Content, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert!(!matches!(read(bytes, true), Content::Needs(_)));
    if let Content::Needs(more) = read(bytes, false) {
        assert!(more > bytes.len());
        let longer: Vec<u8> = bytes.iter().copied().chain(std::iter::repeat(0)).take(more).collect();
        assert!(!matches!(read(&longer, false), Content::Needs(_)));
    }
});

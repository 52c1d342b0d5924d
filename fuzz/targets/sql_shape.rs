//! A statement: no literal of it is in its shape, whatever stands before it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prove::sniff::sql;

fuzz_target!(|bytes: &[u8]| {
    let seen = sql::read(bytes);
    assert!(seen.shape.chars().count() <= 101);
    assert!(seen.secrets.is_empty() || seen.shape.is_empty());
    assert!(seen.secrets.is_empty() || sql::may_carry_secret(bytes));
    // Behind words and marks that open nothing, a string is never shown.
    let opens = |byte: &u8| matches!(byte, b'\'' | b'"' | b'`' | b'#' | b'-' | b'/' | b'*' | b'\\');
    let words: Vec<u8> = bytes.iter().copied().filter(|byte| !opens(byte)).collect();
    let sql = [&words[..], b" 'qzqzqz' ", bytes].concat();
    if !memory_has(&words, b"qzqzqz") && !memory_has(bytes, b"qzqzqz") {
        assert!(!sql::read(&sql).shape.contains("qzqzqz"));
    }
});

fn memory_has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

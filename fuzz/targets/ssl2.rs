//! An answer of SSL 2.0.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::tls::ssl2::{Answer, looks_like_answer, parse_answer};

fuzz_target!(|bytes: &[u8]| {
    let answer = parse_answer(bytes);
    if let Ok(Some(Answer::Hello(hello))) = &answer {
        assert!(hello.certificate.len() + 3 * hello.cipher_kinds.len() <= bytes.len());
        let _ = hello.cipher_suites().count();
    }
    if answer.is_ok() {
        assert_ne!(looks_like_answer(bytes), Some(false));
    }
});

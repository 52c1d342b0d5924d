//! An encrypted file of a backup: any chunk.
#![no_main]

use formats::xbcrypt::{CHUNK_BYTES_MAX, Parsed, check_encrypted, parse, plain};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| match parse(bytes) {
    Ok(Parsed::Needs(more)) => assert!(more > bytes.len() && more <= 60),
    Ok(Parsed::Head { head, bytes: used }) => {
        assert!(head.body_bytes as u64 <= CHUNK_BYTES_MAX);
        let body = bytes.get(used..).unwrap_or_default();
        let _ = check_encrypted(&head, body);
        if let Ok(plain) = plain(&head, body) {
            assert!(plain.len() <= body.len());
        }
    }
    Err(_) => {}
});

//! The start of a binary log.
#![no_main]

use formats::binlog::{Binlog, ciphertext, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let is_log = bytes.get(1..4) == Some(b"bin") && matches!(bytes.first(), Some(0xfd | 0xfe));
    let said = read(bytes);
    assert_eq!(said == Binlog::Other, !is_log);
    assert!(ciphertext(bytes).is_none() || matches!(said, Binlog::MariaDbEncrypted { .. }));
});

//! A changelog of a package: any file, and never more than was allowed.
#![no_main]

use libfuzzer_sys::fuzz_target;

const PLAIN_BYTES_MAX: usize = 64 << 10;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(plain) = formats::gzip::inflate(bytes, PLAIN_BYTES_MAX) {
        assert!(plain.len() <= PLAIN_BYTES_MAX);
    }
});

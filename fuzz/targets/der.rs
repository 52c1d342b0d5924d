//! The reader that looks into a certificate for one extension. It is private to `trust`, so its file is built here.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/trust/src/der.rs"]
mod der;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|certificate: &[u8]| {
    let _ = der::is_ca(certificate);
});

//! `.mylogin.cnf`: its bytes, and option files through it and back.
#![no_main]

use formats::mylogin::{decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = decode(bytes, "fuzz");
    if let Ok(file) = encode(bytes, &[7; 20]) {
        let back = decode(&file, "fuzz").expect("what we wrote is a login file");
        assert_eq!(back.strip_suffix(b"\n").unwrap_or(&back), bytes.strip_suffix(b"\n").unwrap_or(bytes));
    }
});

//! Headers and pages of Aria.
#![no_main]

use formats::aria::{page, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes);
    for (number, bytes) in (0..).zip(bytes.chunks(8192)) {
        let _ = page(number, bytes);
    }
});

//! Headers and pages of Aria.
#![no_main]

use formats::aria::{Page, ciphertext, crypt, is_clear_text, page, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = (read(bytes), crypt(bytes));
    for (number, bytes) in (0..).zip(bytes.chunks(8192)) {
        let said = page(number, bytes);
        if let Some(found) = ciphertext(number, bytes) {
            assert!(matches!(said, Page::Encrypted { .. }));
            assert_eq!(found.head.len() + found.text.len() + 4, bytes.len());
            let _ = is_clear_text(&found, &found.text);
        }
    }
});

//! Headers and pages of Aria.
#![no_main]

use formats::aria::{Page, Table, ciphertext, crypt, index, index_page, is_clear_text, page, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = (read(bytes), crypt(bytes));
    if let Some(index) = index(bytes) {
        assert_eq!(read(bytes), Table::Encrypted);
        assert!(index.page_bytes.is_power_of_two() && index.first > 0);
        for page in bytes.chunks(index.page_bytes) {
            let _ = index_page(&index, page);
        }
    }
    for (number, bytes) in (0..).zip(bytes.chunks(8192)) {
        let said = page(number, bytes);
        if let Some(found) = ciphertext(number, bytes) {
            assert!(matches!(said, Page::Encrypted { .. }));
            assert_eq!(found.head.len() + found.text.len() + 4, bytes.len());
            let _ = is_clear_text(&found, &found.text);
        }
    }
});

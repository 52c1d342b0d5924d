//! Pages of tablespaces and of doublewrite buffers, as a data directory of anybody's may hold them.
#![no_main]

use formats::innodb::page::{Page, ciphertext, copy, judge};
use formats::innodb::space::SpaceHeader;
use formats::innodb::{Family, PAGE_BYTES_MAX, PAGE_BYTES_MIN, redo};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = redo::read(bytes);
    let _ = redo::block(bytes);
    for family in [Family::MariaDb, Family::MySql] {
        let _ = copy(family, bytes);
        let Ok(header) = SpaceHeader::read(bytes, Some(family)) else { continue };
        assert!((PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&header.page_bytes));
        for (number, page) in (0..).zip(bytes.chunks(header.page_bytes)) {
            let said = judge(&header, number, page);
            let is_encrypted = matches!(said, Page::Encrypted { .. });
            assert!(is_encrypted || ciphertext(&header, number, page).is_none());
            assert_eq!(said == Page::Zero, page.len() == header.page_bytes && page.iter().all(|byte| *byte == 0));
        }
    }
});

//! Tables of Aria: the header of the index file (`.MAI`), which says whether the table is encrypted, and the pages of
//! the data file (`.MAD`). `aria_log.*` is never encrypted: seen on 10.11.19, it holds rows of encrypted tables in
//! cleartext.
//!
//! Sources: `maria_def.h` and `ma_crypt.c` of MariaDB; seen in files of 10.11.19, transactional and not.

use crate::bytes::{array, be16, is_zero, le32};

/// Enough of a `.MAI` for [`read`].
pub const HEADER_BYTES: usize = 4096;
/// Of the data file; the server has no other (`maria_block_size` is for the index).
pub const PAGE_BYTES: usize = 8192;
const MAGIC: [u8; 4] = [0xfe, 0xfe, 0x09, 0x03];
const BASE_AT: usize = 12;
/// How rows lie in the data file.
const ROWS_AT: usize = 22;
const ROWS_IN_PAGES: u8 = 3;
/// From the start of the base information: flags of the table, the lowest for encryption.
const EXTRA_OPTIONS: usize = 0x5b;
const EXTRA_ENCRYPTED: u8 = 1;
/// Behind the LSN (7 bytes). Its lowest three bits: what the page holds; the others: how it may be tidied up.
const KIND: usize = 7;
const KIND_MASK: u8 = 7;
const HEAD: u8 = 1;
const TAIL: u8 = 2;
/// A part of a long value, and nothing else.
const BLOB: u8 = 3;
/// Of heads and tails, behind count of rows, free bytes, directory; seen with and without transactions.
const KEY_VERSION: usize = 12;
const BLOB_KEY_VERSION: usize = 8;
/// Three bits a page, in groups of sixteen pages; the last four bytes of a bitmap are its checksum.
const PAGES_A_BITMAP: u64 = (PAGE_BYTES as u64 - 4) / 6 * 16 + 1;

/// Whether an index file is of an encrypted table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Plain,
    /// Its rows do not lie in pages (`ROW_FORMAT=FIXED` or `DYNAMIC`, sequences): no setting encrypts it.
    WithoutPages,
    Encrypted,
    Unknown(&'static str),
}

/// The first [`HEADER_BYTES`] of a `.MAI`.
pub fn read(start: &[u8]) -> Table {
    if array::<4>(start, 0) != Some(MAGIC) {
        return Table::Unknown("it does not begin as an index of Aria");
    }
    let flags = be16(start, BASE_AT).and_then(|base| start.get(usize::from(base) + EXTRA_OPTIONS));
    match flags {
        None => Table::Unknown("its header is cut off"),
        Some(flags) if flags & EXTRA_ENCRYPTED != 0 => Table::Encrypted,
        Some(_) if start.get(ROWS_AT) != Some(&ROWS_IN_PAGES) => Table::WithoutPages,
        Some(_) => Table::Plain,
    }
}

/// One page of a `.MAD` whose table is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Zero,
    /// Which pages are full; it has no rows, and is not encrypted.
    Bitmap,
    Encrypted {
        key_version: u32,
    },
    Unknown(&'static str),
}

/// Page `number` of a data file in blocks (`ROW_FORMAT=PAGE`), of a table of which [`read`] says that it is encrypted.
pub fn page(number: u64, bytes: &[u8]) -> Page {
    if bytes.len() != PAGE_BYTES {
        return Page::Unknown("the page is not complete");
    }
    if is_zero(bytes) {
        return Page::Zero;
    }
    if number.is_multiple_of(PAGES_A_BITMAP) {
        return Page::Bitmap;
    }
    let at = match bytes.get(KIND).map(|kind| kind & KIND_MASK) {
        Some(HEAD | TAIL) => KEY_VERSION,
        Some(BLOB) => BLOB_KEY_VERSION,
        _ => return Page::Unknown("a page of a type that is not known in an encrypted table"),
    };
    match le32(bytes, at) {
        Some(key_version) if key_version != 0 && key_version != u32::MAX => Page::Encrypted { key_version },
        _ => Page::Unknown("a page without a key version in an encrypted table"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_told_by_its_flag_and_a_page_by_its_key_version() {
        let mut header = vec![0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC);
        header[BASE_AT + 1] = 0xef;
        assert_eq!(read(&header), Table::WithoutPages);
        header[ROWS_AT] = ROWS_IN_PAGES;
        assert_eq!(read(&header), Table::Plain);
        header[0xef + EXTRA_OPTIONS] = 1;
        assert_eq!(read(&header), Table::Encrypted);
        assert!(matches!(read(&header[..0xef]), Table::Unknown(_)));
        assert!(matches!(read(b"not Aria"), Table::Unknown(_)));

        let mut bytes = vec![9; PAGE_BYTES];
        assert!(matches!(page(1, &vec![8; PAGE_BYTES]), Page::Unknown(_)), "no type");
        bytes[KIND] = 3;
        bytes[BLOB_KEY_VERSION..BLOB_KEY_VERSION + 4].copy_from_slice(&5_u32.to_le_bytes());
        assert_eq!(page(1, &bytes), Page::Encrypted { key_version: 5 });
        bytes[KIND] = 0x82;
        bytes[KEY_VERSION..KEY_VERSION + 4].copy_from_slice(&2_u32.to_le_bytes());
        assert_eq!(page(1, &bytes), Page::Encrypted { key_version: 2 });
        assert_eq!(page(0, &bytes), Page::Bitmap);
        assert_eq!(page(PAGES_A_BITMAP, &bytes), Page::Bitmap);
        bytes[KEY_VERSION..KEY_VERSION + 4].fill(0);
        assert!(matches!(page(1, &bytes), Page::Unknown(_)));
        assert_eq!(page(1, &[0; PAGE_BYTES]), Page::Zero);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), number: u64) {
            let _ = read(&[&MAGIC[..], &bytes].concat());
            let _ = page(number, &bytes);
        }
    }
}

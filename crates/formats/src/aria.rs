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

/// What an encrypted table's key is derived with, and which number its pages are encrypted with; no secret. The key is that with id 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crypt {
    pub space: u32,
    pub iv: [u8; 16],
}

/// Scheme 1, and the length of what follows.
const CRYPT_MARK: [u8; 2] = [1, 20];
const CRYPT_BYTES: usize = 22;
const HEADER_LENGTH: usize = 6;

/// Of the first [`HEADER_BYTES`] of a `.MAI`: the block is the end of its header.
///
/// # Source
/// `ma_crypt_write` and `ma_crypt_read` of MariaDB; seen in files of 10.11.19.
pub fn crypt(start: &[u8]) -> Option<Crypt> {
    if read(start) != Table::Encrypted {
        return None;
    }
    let at = usize::from(be16(start, HEADER_LENGTH)?).checked_sub(CRYPT_BYTES)?;
    if array(start, at)? != CRYPT_MARK {
        return None;
    }
    Some(Crypt { space: le32(start, at + 2)?, iv: array(start, at + 6)? })
}

/// How the pages of an encrypted table's index lie in its `.MAI`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// `aria_block_size` when it was made.
    pub page_bytes: usize,
    /// The number of the first page: before it is the header, which is not encrypted.
    pub first: u64,
    /// Of each page; the key version, the index, flags and used bytes are its end.
    header_bytes: usize,
}

/// From the start of the base information.
const FIRST_KEY_AT: usize = 16;
const BLOCK_BYTES_AT: usize = 100;
const TRANSACTIONAL_AT: usize = 106;
const INDEX_PAGE_BYTES: std::ops::RangeInclusive<usize> = 1024..=32_768;
/// LSN (7 bytes), transaction (6), key version (4), index, flags, used bytes (2).
const TRANSACTIONAL_HEADER: usize = 21;
/// The same without a transaction.
const HEADER: usize = 15;
const INDEX_KEY_VERSION_FROM_END: usize = 8;
const INDEX_CHECKSUM: usize = 4;

/// Of the first [`HEADER_BYTES`] of an encrypted table's `.MAI`.
///
/// # Source
/// `_ma_base_info_write` and `ma_crypt_get_index_page_header_space` of MariaDB; seen in files of 10.11.19, transactional and not.
pub fn index(start: &[u8]) -> Option<Index> {
    if read(start) != Table::Encrypted {
        return None;
    }
    let base = usize::from(be16(start, BASE_AT)?);
    let page_bytes = usize::from(be16(start, base + BLOCK_BYTES_AT)?);
    let first_byte = u64::from_be_bytes(array(start, base + FIRST_KEY_AT)?);
    let is_whole = page_bytes.is_power_of_two() && first_byte.is_multiple_of(page_bytes as u64);
    if !INDEX_PAGE_BYTES.contains(&page_bytes) || !is_whole || first_byte == 0 {
        return None;
    }
    let header_bytes = if *start.get(base + TRANSACTIONAL_AT)? == 0 { HEADER } else { TRANSACTIONAL_HEADER };
    Some(Index { page_bytes, first: first_byte / page_bytes as u64, header_bytes })
}

/// One page of an encrypted table's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexPage {
    Zero,
    Encrypted {
        key_version: u32,
        /// Behind the bytes in use is something else than zeros. The server encrypts those in use into a buffer that it does not clear, and
        /// writes all of it: the rest is what was in its memory, ciphertext of another page or rows.
        has_rest: bool,
    },
    Unknown(&'static str),
}

/// # Source
/// `ma_crypt_index_pre_write_hook` of MariaDB: `page_used` bytes are encrypted, and the checksum at the end is not. Rows in clear text behind
/// them were seen on 10.11.19.
pub fn index_page(index: &Index, bytes: &[u8]) -> IndexPage {
    if bytes.len() != index.page_bytes {
        return IndexPage::Unknown("the page is not complete");
    }
    if is_zero(bytes) {
        return IndexPage::Zero;
    }
    let used = be16(bytes, index.header_bytes - 2).map(usize::from);
    let rest = used
        .filter(|used| *used >= index.header_bytes)
        .and_then(|used| bytes.get(used..index.page_bytes - INDEX_CHECKSUM));
    let Some(rest) = rest else {
        return IndexPage::Unknown("a page of an index that has no such count of bytes in use");
    };
    match le32(bytes, index.header_bytes - INDEX_KEY_VERSION_FROM_END) {
        Some(key_version) if key_version != 0 && key_version != u32::MAX => {
            IndexPage::Encrypted { key_version, has_rest: !is_zero(rest) }
        }
        _ => IndexPage::Unknown("a page without a key version in the index of an encrypted table"),
    }
}

/// An encrypted page whose checksum is one of its clear text, so that it tells whether a key opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ciphertext {
    pub number: u32,
    pub lsn: u64,
    /// Before the ciphertext, with the key version as it was when the checksum was made.
    pub head: Vec<u8>,
    pub text: Vec<u8>,
    pub checksum: u32,
}

/// In place of a checksum: pages of `PAGE_CHECKSUM=0`, bitmaps without one.
const CHECKSUM_MAX: u32 = 0xffff_fffd;

/// Of a page that [`page`] calls encrypted; `None` where it has no checksum.
///
/// # Source
/// `ma_crypt_data_pre_write_hook` and `maria_page_crc` of MariaDB.
pub fn ciphertext(number: u64, bytes: &[u8]) -> Option<Ciphertext> {
    let Page::Encrypted { .. } = page(number, bytes) else { return None };
    let at = if bytes.get(KIND)? & KIND_MASK == BLOB { BLOB_KEY_VERSION } else { KEY_VERSION };
    let end = PAGE_BYTES - 4;
    let checksum = le32(bytes, end)?;
    if checksum > CHECKSUM_MAX {
        return None;
    }
    let mut head = bytes.get(..at + 4)?.to_vec();
    head.get_mut(at..)?.fill(0);
    // Three bytes of the number of a log file, and four of a place in it.
    let file = le32(bytes, 0)? & 0x00ff_ffff;
    let lsn = u64::from(file) << 32 | u64::from(le32(bytes, 3)?);
    let text = bytes.get(at + 4..end)?.to_vec();
    Some(Ciphertext { number: u32::try_from(number).ok()?, lsn, head, text, checksum })
}

/// Whether this is the clear text of such a page.
pub fn is_clear_text(of: &Ciphertext, clear: &[u8]) -> bool {
    // CRC-32 of zlib, which begins with the number of the page.
    let mut crc = !of.number;
    for byte in of.head.iter().chain(clear) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    (!crc).min(CHECKSUM_MAX) == of.checksum
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

    #[test]
    fn a_page_of_an_index_tells_its_key_version_and_what_is_behind_the_bytes_in_use() {
        let mut header = vec![0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC);
        let base = 0xef;
        header[BASE_AT + 1] = 0xef;
        header[base + EXTRA_OPTIONS] = 1;
        assert_eq!(index(&header), None, "no size of a page");
        header[base + BLOCK_BYTES_AT..][..2].copy_from_slice(&1024_u16.to_be_bytes());
        header[base + FIRST_KEY_AT..][..8].copy_from_slice(&1025_u64.to_be_bytes());
        assert_eq!(index(&header), None, "within a page");
        header[base + FIRST_KEY_AT..][..8].copy_from_slice(&2048_u64.to_be_bytes());
        let plain = index(&header).unwrap();
        assert_eq!(plain, Index { page_bytes: 1024, first: 2, header_bytes: 15 });
        header[base + TRANSACTIONAL_AT] = 1;
        let found = index(&header).unwrap();
        assert_eq!(found.header_bytes, 21);

        let mut page = vec![0; 1024];
        assert_eq!(index_page(&found, &page), IndexPage::Zero);
        page[13] = 7;
        page[19..21].copy_from_slice(&30_u16.to_be_bytes());
        page[1020..].fill(9);
        assert_eq!(index_page(&found, &page), IndexPage::Encrypted { key_version: 7, has_rest: false });
        page[29] = 1;
        assert_eq!(index_page(&found, &page), IndexPage::Encrypted { key_version: 7, has_rest: false });
        for at in [30, 1019] {
            page[at] = 1;
            assert_eq!(index_page(&found, &page), IndexPage::Encrypted { key_version: 7, has_rest: true });
            page[at] = 0;
        }
        for used in [0_u16, 20, 1021, u16::MAX] {
            page[19..21].copy_from_slice(&used.to_be_bytes());
            assert!(matches!(index_page(&found, &page), IndexPage::Unknown(_)), "{used}");
        }
        page[19..21].copy_from_slice(&30_u16.to_be_bytes());
        page[13] = 0;
        assert!(matches!(index_page(&found, &page), IndexPage::Unknown(_)), "no key version");
        assert!(matches!(index_page(&found, &page[1..]), IndexPage::Unknown(_)));
        page[7..11].copy_from_slice(&[8, 0, 0, 0]);
        page[13..15].copy_from_slice(&100_u16.to_be_bytes());
        assert_eq!(index_page(&plain, &page), IndexPage::Encrypted { key_version: 8, has_rest: false });
    }

    #[test]
    fn a_page_has_a_checksum_of_its_clear_text() {
        let mut bytes = vec![9; PAGE_BYTES];
        bytes[KIND] = 1;
        bytes[KEY_VERSION..KEY_VERSION + 4].copy_from_slice(&1_u32.to_le_bytes());
        let found = ciphertext(1, &bytes).unwrap();
        assert_eq!((found.number, found.lsn, found.checksum), (1, 0x0009_0909_0909_0909, 0x0909_0909));
        assert_eq!((found.head.len(), &found.head[KEY_VERSION..]), (16, &[0; 4][..]));
        assert!(!is_clear_text(&found, &found.text));
        // As zlib has it: crc32(0, "123456789").
        let known = Ciphertext { number: 0, lsn: 0, head: vec![], text: vec![], checksum: 0xcbf4_3926 };
        assert!(is_clear_text(&known, b"123456789"));
        bytes[PAGE_BYTES - 4..].fill(0xff);
        assert_eq!(ciphertext(1, &bytes), None, "PAGE_CHECKSUM=0");
        assert_eq!(ciphertext(0, &bytes), None, "a bitmap");
    }

    #[test]
    fn the_block_of_encryption_is_the_end_of_the_header() {
        let mut header = vec![0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC);
        header[BASE_AT + 1] = 0xef;
        header[0xef + EXTRA_OPTIONS] = 1;
        header[HEADER_LENGTH..HEADER_LENGTH + 2].copy_from_slice(&470_u16.to_be_bytes());
        assert_eq!(crypt(&header), None);
        header[448..454].copy_from_slice(&[1, 20, 5, 0, 0, 0]);
        header[454..470].fill(7);
        assert_eq!(crypt(&header), Some(Crypt { space: 5, iv: [7; 16] }));
        header[0xef + EXTRA_OPTIONS] = 0;
        assert_eq!(crypt(&header), None, "a plain one");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), number: u64) {
            let start = [&MAGIC[..], &bytes].concat();
            let _ = (read(&start), crypt(&start));
            let _ = page(number, &bytes);
            let mut whole = bytes.clone();
            whole.resize(PAGE_BYTES, 1);
            for bytes in [&bytes, &whole] {
                if let Some(found) = ciphertext(number, bytes) {
                    prop_assert_eq!(found.head.len() + found.text.len() + 4, PAGE_BYTES);
                }
            }
        }
    }
}

//! Page 0 of a tablespace: page size, layout of its pages, and which key its pages are encrypted with, if they are.
//!
//! Sources: `fsp0types.h` and `fil0crypt.h` of MariaDB, `fsp0types.h` and `os0enc.h` of MySQL; each offset was compared
//! with files of MariaDB 10.11.19 and MySQL 9.7.4 (pages of 16 KiB, and 4 KiB of compressed tables).

use thiserror::Error;

use super::{Family, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use crate::bytes::{array, be16, be32, is_zero, text};

/// The header of a page (`FIL_PAGE_DATA`): behind it stands what the page holds.
const PAGE_HEADER: usize = 38;
const SPACE_ID: usize = 34;
/// Of the space header, behind the page header; the space id stands in both.
const FSP_SPACE_ID: usize = 38;
const FSP_FLAGS: usize = 54;
/// Where the descriptors of extents begin (`XDES_ARR_OFFSET` behind the page header and the space header).
const EXTENTS: usize = 150;
/// An extent is 1 MiB, and at least 64 pages.
const EXTENT_BYTES: usize = 1 << 20;
const EXTENT_PAGES_MIN: usize = 64;
const KIND: usize = 24;
const KIND_TRX_SYS: u16 = 7;
/// The header of the transaction system, in the system tablespace.
pub const TRX_SYS_PAGE: u32 = 5;
/// `TRX_SYS_DOUBLEWRITE`, from the end of that page: a segment header of ten bytes, the magic, then the first page of
/// each block.
const DOUBLEWRITE_FROM_END: usize = 200;
const DOUBLEWRITE_MAGIC: u32 = 536_853_855;
/// The same of both families: how a page size is written in three or four bits.
const SSIZE_UNIT: usize = 512;
const PAGE_BYTES_DEFAULT: usize = 16_384;

const MARIADB_CRYPT_MAGIC: [u8; 6] = [b's', 0x0e, 0x0c, b'R', b'E', b't'];
const MYSQL_CRYPT_MAGIC: [u8; 3] = *b"lCC";
/// MySQL has had three of these; A and B are of 5.7.
const MYSQL_CRYPT_MAGICS: [[u8; 3]; 3] = [*b"lCA", *b"lCB", MYSQL_CRYPT_MAGIC];
const UUID_BYTES: usize = 36;
/// A key and an initialization vector of 32 bytes each.
pub const MYSQL_WRAPPED_BYTES: usize = 64;
/// `CRYPT_SCHEME_1` has this; another length is another format.
const MARIADB_IV_BYTES: u8 = 16;

/// How the pages of a tablespace are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// MariaDB 10.5 and newer: key version first, CRC-32C of the whole page last.
    FullCrc32,
    /// MariaDB before that, and its `ROW_FORMAT=COMPRESSED` until today: key version at 26.
    MariaDb,
    /// Types of their own for encrypted pages.
    MySql,
}

/// What `ENCRYPTED` of a table said (MariaDB), from the last byte of the crypt block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wish {
    /// As `innodb_encrypt_tables` says.
    Default,
    Yes,
    No,
}

/// What page 0 says of encryption. It is no proof: pages written before it may be plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crypt {
    MariaDb {
        /// 0: not encrypted, 1: encrypted.
        scheme: u8,
        key_id: u32,
        min_key_version: u32,
        wish: Wish,
        /// What the key of this tablespace is derived with; no secret.
        iv: [u8; MARIADB_IV_BYTES as usize],
    },
    MySql {
        /// Number of the master key that wraps the tablespace's key.
        master_key_id: u32,
        server_uuid: String,
        /// The tablespace's key and initialization vector, encrypted with the master key.
        wrapped: [u8; MYSQL_WRAPPED_BYTES],
        /// CRC-32C of both in the clear.
        checksum: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceHeader {
    pub space_id: u32,
    pub flags: u32,
    pub layout: Layout,
    /// As pages stand in the file, bytes.
    pub page_bytes: usize,
    /// `ROW_FORMAT=COMPRESSED`: pages in the file are smaller than those in memory, and have no LSN at their end.
    pub is_zipped: bool,
    pub crypt: Option<Crypt>,
    /// The flag of MySQL that stands beside the crypt block.
    pub is_flagged_encrypted: bool,
    /// Of the system tablespace: where each of the two blocks of the doublewrite buffer begins, in pages. See
    /// [`Self::with_doublewrite`].
    pub doublewrite: Option<[u32; 2]>,
}

/// Why the first bytes of a file are no header of a tablespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotASpace {
    #[error("page 0 is not complete")]
    Short,
    #[error("page 0 is all zero: nothing was written to the file yet")]
    Zero,
    #[error("page 0 is not the header of a tablespace")]
    Other,
    #[error("page 0 gives a page size that InnoDB does not have")]
    PageSize,
    #[error("page 0 does not say whether MariaDB or MySQL wrote it")]
    Family,
}

impl SpaceHeader {
    /// `start` are the first bytes of a file, up to [`PAGE_BYTES_MAX`] of them. `family` is what the rest of the data
    /// directory says; it counts only where the flags are of neither.
    ///
    /// # Errors
    /// They are no first page, or not one that is known.
    pub fn read(start: &[u8], family: Option<Family>) -> Result<Self, NotASpace> {
        let word = |at| be32(start, at).ok_or(NotASpace::Short);
        if start.len() < PAGE_BYTES_MIN {
            return Err(NotASpace::Short);
        }
        // Pages behind it may be smaller than `start`, and written.
        if start.get(..PAGE_BYTES_MIN).is_some_and(is_zero) {
            return Err(NotASpace::Zero);
        }
        let (space_id, flags) = (word(SPACE_ID)?, word(FSP_FLAGS)?);
        // A page 0 that was written has number 0, and its space id twice.
        if word(4)? != 0 || word(FSP_SPACE_ID)? != space_id {
            return Err(NotASpace::Other);
        }
        let layout = layout(flags, family).ok_or(NotASpace::Family)?;
        let (page_bytes, logical_bytes) = sizes(flags, layout).ok_or(NotASpace::PageSize)?;
        let first = start.get(..page_bytes).ok_or(NotASpace::Short)?;
        Ok(Self {
            space_id,
            flags,
            layout,
            page_bytes,
            is_zipped: page_bytes != logical_bytes,
            crypt: crypt(first, logical_bytes, layout),
            is_flagged_encrypted: layout == Layout::MySql && flags & (1 << 13) != 0,
            doublewrite: None,
        })
    }

    /// The same with what the header of the transaction system (page [`TRX_SYS_PAGE`] of the system tablespace) says of
    /// the doublewrite buffer. MariaDB has it there; MySQL has files for it since 8.0.20.
    #[must_use]
    pub fn with_doublewrite(mut self, trx_sys: &[u8]) -> Self {
        let Some(at) = trx_sys.len().checked_sub(DOUBLEWRITE_FROM_END) else { return self };
        let is_header =
            be16(trx_sys, KIND) == Some(KIND_TRX_SYS) && be32(trx_sys, at + 10) == Some(DOUBLEWRITE_MAGIC);
        if self.space_id == 0 && trx_sys.len() == self.page_bytes && is_header {
            self.doublewrite = be32(trx_sys, at + 14).zip(be32(trx_sys, at + 18)).map(<[u32; 2]>::from);
        }
        self
    }

    /// By what pages are compressed, where they are (`innodb_compression_algorithm` as a number, 0: none). Only [`Layout::FullCrc32`] says it
    /// here.
    pub fn compression(&self) -> u32 {
        if self.layout == Layout::FullCrc32 { self.flags >> 5 & 7 } else { 0 }
    }

    /// Whether this page is in the doublewrite buffer: a block is an extent.
    pub fn is_doublewrite(&self, number: u32) -> bool {
        let extent_pages = (EXTENT_BYTES / self.page_bytes.max(1)).max(EXTENT_PAGES_MIN);
        self.doublewrite.is_some_and(|blocks| {
            blocks.iter().any(|from| {
                number
                    .checked_sub(*from)
                    .is_some_and(|nth| usize::try_from(nth).is_ok_and(|nth| nth < extent_pages))
            })
        })
    }
}

fn layout(flags: u32, family: Option<Family>) -> Option<Layout> {
    // The highest bit of a compressed page's size in the older layouts, which no table can have: MariaDB's mark of
    // full_crc32.
    if flags & (1 << 4) != 0 {
        return Some(Layout::FullCrc32);
    }
    // MySQL: general tablespace (11), temporary (12), encrypted (13), with dictionary (14). MariaDB has 11 as a rest of
    // 10.1 only.
    if flags & 0x7000 != 0 {
        return Some(Layout::MySql);
    }
    // MariaDB: page compression and its level.
    if flags & 0xffff_8000 != 0 {
        return Some(Layout::MariaDb);
    }
    family.map(|family| match family {
        Family::MariaDb => Layout::MariaDb,
        Family::MySql => Layout::MySql,
    })
}

/// Bytes of a page in the file, and in memory.
fn sizes(flags: u32, layout: Layout) -> Option<(usize, usize)> {
    let sized = |ssize: u32| {
        let bytes = SSIZE_UNIT.checked_shl(ssize)?;
        (PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&bytes).then_some(bytes)
    };
    if layout == Layout::FullCrc32 {
        let bytes = sized(flags & 0xf)?;
        return Some((bytes, bytes));
    }
    let logical = match flags >> 6 & 0xf {
        0 => PAGE_BYTES_DEFAULT,
        ssize => sized(ssize)?,
    };
    let physical = match flags >> 1 & 0xf {
        0 => logical,
        ssize => sized(ssize)?,
    };
    (physical <= logical).then_some((physical, logical))
}

/// Behind the descriptors of the extents that this page describes. MariaDB's stands 38 bytes further: its constant
/// counts the page header twice.
fn crypt(first: &[u8], logical_bytes: usize, layout: Layout) -> Option<Crypt> {
    let extent_pages = (EXTENT_BYTES / logical_bytes).max(EXTENT_PAGES_MIN);
    let described = (first.len() / extent_pages).max(1);
    // Two bits a page behind 24 bytes.
    let at = EXTENTS + described * (24 + extent_pages.div_ceil(4));
    if layout == Layout::MySql {
        let magic: [u8; 3] = array(first, at)?;
        let uuid = first.get(at + 7..at + 7 + UUID_BYTES)?;
        let wrapped_at = at + 7 + UUID_BYTES;
        let wrapped = array(first, wrapped_at)?;
        let checksum = be32(first, wrapped_at + MYSQL_WRAPPED_BYTES)?;
        let (master_key_id, server_uuid) = (be32(first, at + 3)?, text(uuid));
        return MYSQL_CRYPT_MAGICS.contains(&magic).then_some(Crypt::MySql {
            master_key_id,
            server_uuid,
            wrapped,
            checksum,
        });
    }
    let at = at + PAGE_HEADER;
    let block: [u8; 33] = array(first, at)?;
    let [_, _, _, _, _, _, scheme, iv_bytes, ..] = block;
    if !block.starts_with(&MARIADB_CRYPT_MAGIC) || iv_bytes != MARIADB_IV_BYTES {
        return None;
    }
    let wish = match block[32] {
        0 => Wish::Default,
        1 => Wish::Yes,
        2 => Wish::No,
        _ => return None,
    };
    let (min_key_version, key_id) = (be32(&block, 24)?, be32(&block, 28)?);
    Some(Crypt::MariaDb { scheme, min_key_version, key_id, wish, iv: array(&block, 8)? })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A page 0 as the server lays it out.
    fn page0(flags: u32, page_bytes: usize, crypt_at: usize, crypt: &[u8]) -> Vec<u8> {
        let mut page = vec![0; page_bytes];
        page[24..26].copy_from_slice(&8_u16.to_be_bytes());
        page[SPACE_ID..SPACE_ID + 4].copy_from_slice(&7_u32.to_be_bytes());
        page[FSP_SPACE_ID..FSP_SPACE_ID + 4].copy_from_slice(&7_u32.to_be_bytes());
        page[FSP_FLAGS..FSP_FLAGS + 4].copy_from_slice(&flags.to_be_bytes());
        page[crypt_at..crypt_at + crypt.len()].copy_from_slice(crypt);
        page
    }

    fn mariadb_block(scheme: u8, wish: u8) -> Vec<u8> {
        let mut block = [&MARIADB_CRYPT_MAGIC[..], &[scheme, 16], &[9; 16]].concat();
        block.extend(3_u32.to_be_bytes());
        block.extend(2_u32.to_be_bytes());
        block.push(wish);
        block
    }

    fn mysql_block() -> Vec<u8> {
        let mut block = b"lCC".to_vec();
        block.extend(4_u32.to_be_bytes());
        block.extend(b"1512987e-e89f-11f1-a1f6-02fc00000001");
        block.extend([7; MYSQL_WRAPPED_BYTES]);
        block.extend(5_u32.to_be_bytes());
        block
    }

    #[test]
    fn flags_and_crypt_blocks_of_real_files_are_read() {
        // Flags and offsets as seen in files of MariaDB 10.11.19 and MySQL 9.7.4.
        for (flags, bytes, at, block, layout, is_zipped) in [
            (0x15, 16_384, 10_428, mariadb_block(1, 1), Layout::FullCrc32, false),
            (0x21, 16_384, 10_428, mariadb_block(1, 1), Layout::MariaDb, false),
            (0x1_0021, 16_384, 10_428, mariadb_block(1, 1), Layout::MariaDb, false),
            (0x27, 4_096, 2_748, mariadb_block(1, 1), Layout::MariaDb, true),
        ] {
            let header = SpaceHeader::read(&page0(flags, bytes, at, &block), Some(Family::MariaDb)).unwrap();
            assert_eq!((header.layout, header.page_bytes, header.is_zipped), (layout, bytes, is_zipped));
            let crypt =
                Crypt::MariaDb { scheme: 1, min_key_version: 3, key_id: 2, wish: Wish::Yes, iv: [9; 16] };
            assert_eq!((header.space_id, header.crypt), (7, Some(crypt)), "{flags:x}");
        }
        for (flags, bytes, at, is_encrypted) in [
            (0x6021, 16_384, 10_390, true),
            (0x2000, 16_384, 10_390, true),
            (0x6027, 4_096, 2_710, true),
            (0x4021, 16_384, 10_390, false),
        ] {
            let header = SpaceHeader::read(&page0(flags, bytes, at, &mysql_block()), None).unwrap();
            assert_eq!((header.layout, header.page_bytes), (Layout::MySql, bytes), "{flags:x}");
            assert_eq!(header.is_flagged_encrypted, is_encrypted);
            let uuid = "1512987e-e89f-11f1-a1f6-02fc00000001".to_owned();
            let wrapped = [7; MYSQL_WRAPPED_BYTES];
            let crypt = Crypt::MySql { master_key_id: 4, server_uuid: uuid, wrapped, checksum: 5 };
            assert_eq!(header.crypt, Some(crypt), "{flags:x}");
        }
    }

    #[test]
    fn all_page_sizes_are_read_and_no_others() {
        for (ssize, bytes) in [(3, 4_096), (4, 8_192), (5, 16_384), (6, 32_768), (7, 65_536)] {
            let page = page0(0x10 | ssize, bytes, 100, &[]);
            assert_eq!(SpaceHeader::read(&page, None).unwrap().page_bytes, bytes);
            let page = page0(0x4000 | ssize << 6, bytes, 100, &[]);
            assert_eq!(SpaceHeader::read(&page, None).unwrap().page_bytes, bytes);
        }
        let page = page0(0x10 | 8, 65_536, 100, &[]);
        assert_eq!(SpaceHeader::read(&page, None), Err(NotASpace::PageSize));
    }

    #[test]
    fn the_doublewrite_buffer_is_where_the_transaction_system_says() {
        let header = SpaceHeader::read(&page0(0x13, 4096, 100, &[]), None).unwrap();
        let header = SpaceHeader { space_id: 0, ..header };
        let mut trx_sys = page0(0, 4096, 3906, &DOUBLEWRITE_MAGIC.to_be_bytes());
        trx_sys[25] = 7;
        trx_sys[3910..3918].copy_from_slice(&[0, 0, 1, 0, 0, 0, 3, 0]);
        let with = header.clone().with_doublewrite(&trx_sys);
        let is = |number| with.is_doublewrite(number);
        assert_eq!(
            [255, 256, 511, 512, 767, 768, 1023, 1024].map(is),
            [false, true, true, false, false, true, true, false]
        );
        let other = SpaceHeader { space_id: 4, ..header.clone() }.with_doublewrite(&trx_sys);
        assert_eq!(other.doublewrite, None, "another tablespace has none");
        trx_sys[25] = 6;
        assert_eq!(header.with_doublewrite(&trx_sys).doublewrite, None);
    }

    #[test]
    fn what_is_no_tablespace_is_refused_as_what_it_is() {
        assert_eq!(SpaceHeader::read(&[], None), Err(NotASpace::Short));
        assert_eq!(SpaceHeader::read(&vec![0; 65_536], None), Err(NotASpace::Zero));
        assert_eq!(SpaceHeader::read(&vec![b'x'; 65_536], None), Err(NotASpace::Other));
        assert_eq!(SpaceHeader::read(&page0(0x21, 16_384, 100, &[]), None), Err(NotASpace::Family));
        let cut = page0(0x15, 16_384, 100, &[]);
        assert_eq!(SpaceHeader::read(&cut[..16_383], None), Err(NotASpace::Short));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..2048), flags: u32) {
            let _ = SpaceHeader::read(&bytes, Some(Family::MySql));
            // The same with what gets it past the first check.
            if bytes.len() >= 64 {
                bytes[4..8].fill(0);
                bytes.copy_within(SPACE_ID..SPACE_ID + 4, FSP_SPACE_ID);
                bytes[FSP_FLAGS..FSP_FLAGS + 4].copy_from_slice(&flags.to_be_bytes());
            }
            bytes.resize(PAGE_BYTES_MAX, 1);
            for family in [None, Some(Family::MariaDb), Some(Family::MySql)] {
                if let Ok(header) = SpaceHeader::read(&bytes, family) {
                    let header = header.with_doublewrite(&bytes);
                    let _ = header.is_doublewrite(flags);
                    prop_assert!((PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&header.page_bytes));
                }
            }
        }
    }
}

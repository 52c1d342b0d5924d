//! One page: plain, encrypted, one that no server encrypts, or not to be told.
//!
//! Sources: `fil0fil.h`, `buf0buf.cc` (checksums) and `fil0crypt.cc` of MariaDB, `fil0types.h` of MySQL; seen in files
//! of MariaDB 10.11.19 and MySQL 9.7.4, made with and without encryption, page compression and `ROW_FORMAT=COMPRESSED`.

use super::space::{Layout, SpaceHeader, TRX_SYS_PAGE};
use super::{Family, PAGE_BYTES_MIN};
use crate::bytes::{array, be16, be32, is_zero};

const NUMBER: usize = 4;
const LSN: usize = 16;
/// Low half of the LSN; pages that are not compressed have it at their end too.
const LSN_LOW: usize = 20;
const KIND: usize = 24;
/// Key version in MariaDB's older layout; zero in a plain page, but for R-trees.
const KEY_VERSION: usize = 26;
/// In that layout: the checksum over the ciphertext.
const ENCRYPTED_CHECKSUM: usize = 30;
const SPACE_ID: usize = 34;
const DATA: usize = 38;
/// Behind the data of the older layouts: checksum, and the low half of the LSN.
const TRAILER: usize = 8;
const CHECKSUM_BYTES: usize = 4;

const KIND_TRX_SYS: u16 = 7;
const KIND_FSP_HEADER: u16 = 8;
/// Which pages of the extents behind it are used, and nothing else. MariaDB does not encrypt it (`fil_space_encrypt`), MySQL
/// does. The first such page behind page 0 has as number the bytes of a page: 16384, at 256 MiB.
const KIND_EXTENTS: u16 = 9;
/// Set in a full_crc32 page that is compressed; the other bits are its size in units of 256 bytes.
const COMPRESSED_MARK: u16 = 1 << 15;
const MARIADB_COMPRESSED: u16 = 34_354;
/// In place of a checksum (`BUF_NO_CHECKSUM_MAGIC`); pages that are compressed have it.
const NO_CHECKSUM: u32 = 0xdead_beef;
const MARIADB_COMPRESSED_ENCRYPTED: u16 = 37_401;
const KIND_RTREE: u16 = 17_854;
/// Of `ROW_FORMAT=COMPRESSED`.
const ZIPPED_BYTES_MIN: usize = 1024;
const INDEX_KINDS: std::ops::RangeInclusive<u16> = 17_853..=17_855;
/// MariaDB's temporary tablespace. Seen on 10.11.19 with `innodb_encrypt_temporary_tables`: key version 0, and
/// ciphertext from 26 on.
const MARIADB_TEMPORARY: u32 = 0xffff_fffe;
/// MySQL: 15 encrypted, 16 compressed and encrypted, 17 an encrypted R-tree.
const MYSQL_ENCRYPTED: std::ops::RangeInclusive<u16> = 15..=17;
/// MySQL 9.7 ends with 29 (`FIL_PAGE_TYPE_ZLOB_FRAG_ENTRY`), MariaDB with 18 (`FIL_PAGE_TYPE_INSTANT`).
const MYSQL_KIND_MAX: u16 = 29;
const MARIADB_KIND_MAX: u16 = 18;

/// What one page of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Never written, or wiped; or of no type and without a byte of data, as page 4 of MariaDB 11's system tablespace, where the change buffer was.
    Zero,
    /// Whole, and not encrypted.
    Plain {
        /// `FIL_PAGE_TYPE`.
        kind: u16,
    },
    Encrypted {
        /// `None` in MySQL, where page 0 tells the key, and in MariaDB's temporary tablespace, whose pages name none.
        key_version: Option<u32>,
    },
    /// One that no server encrypts: the header of a tablespace, the header of the transaction system.
    Never,
    /// Cannot be told, and why. It may be a page that is being written.
    Unknown(&'static str),
}

/// The beginning of what is encrypted in a page, with what beside the key it was encrypted with, and what is known of it in the clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ciphertext {
    pub number: u32,
    /// As the page was encrypted with: in the older layout it has its own.
    pub space_id: u32,
    pub lsn: u64,
    pub key_version: u32,
    pub start: Vec<u8>,
    pub known: Known,
}

/// What a right key makes of a [`Ciphertext`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The number of the tablespace stands at [`SPACE_ID_IN_TEXT`].
    SpaceId,
    /// It is a stream of zlib: page compression, whose data begins where else the space id would be.
    Zlib,
    /// The lowest record of an index page has its name at one of [`INFIMUM_IN_TEXT`].
    Infimum,
}

/// Where the ciphertext of a page of [`Layout::FullCrc32`] begins.
const FULL_TEXT: usize = KEY_VERSION;
pub const SPACE_ID_IN_TEXT: usize = SPACE_ID - FULL_TEXT;
/// A block of AES is enough for what stands at the beginning.
pub const BLOCK_BYTES: usize = 16;
/// Of rows in the format of today and in the redundant one, behind the header of an index page.
pub const INFIMUM_IN_TEXT: [usize; 2] = [99 - DATA, 101 - DATA];
pub const INFIMUM: &[u8] = b"infimum\0";
const INFIMUM_TEXT_BYTES: usize = 5 * BLOCK_BYTES;
/// Of a page of the older layout that is compressed and encrypted: its length, and by what it was compressed; then the data.
const OLD_ALGORITHM: usize = DATA + 2;
const OLD_COMPRESSED_TEXT: usize = DATA + 4;
/// `PAGE_ZLIB_ALGORITHM`. Others have no beginning that is known.
const ZLIB: u32 = 1;
const KIND_INDEX: u16 = 17_855;

/// Of a page that is encrypted and whole, and of which something is known in the clear; `None` of all others: copies in the doublewrite
/// buffer, pages without a type, pages of `ROW_FORMAT=COMPRESSED`, pages that are compressed by something else than zlib.
///
/// # Source
/// `fil_page_compress_for_full_crc32`, `fil_page_compress_for_non_full_crc32` (`compress2` writes right behind the header), and
/// `fil_encrypt_buf` of MariaDB; tried on tables of 10.11.19.
pub fn ciphertext(header: &SpaceHeader, number: u32, page: &[u8]) -> Option<Ciphertext> {
    if header.layout == Layout::MySql || header.is_doublewrite(number) || header.is_zipped {
        return None;
    }
    let Page::Encrypted { key_version: Some(key_version) } = judge(header, number, page) else { return None };
    let kind = be16(page, KIND)?;
    let lsn = u64::from_be_bytes(array(page, LSN)?);
    let (space_id, at, bytes, known) = if header.layout == Layout::FullCrc32 {
        let known = match kind {
            // A page that was freed, or not used yet: nothing has to stand in it.
            0 => return None,
            kind if kind & COMPRESSED_MARK == 0 => Known::SpaceId,
            _ if header.compression() == ZLIB => Known::Zlib,
            _ => return None,
        };
        (header.space_id, FULL_TEXT, BLOCK_BYTES, known)
    } else {
        let space_id = be32(page, SPACE_ID)?;
        match kind {
            KIND_INDEX => (space_id, DATA, INFIMUM_TEXT_BYTES, Known::Infimum),
            MARIADB_COMPRESSED_ENCRYPTED if be16(page, OLD_ALGORITHM).map(u32::from) == Some(ZLIB) => {
                (space_id, OLD_COMPRESSED_TEXT, BLOCK_BYTES, Known::Zlib)
            }
            _ => return None,
        }
    };
    let start = page.get(at..at + bytes)?.to_vec();
    Some(Ciphertext { number, space_id, lsn, key_version, start, known })
}

/// The number that a page says that it has, in its tablespace; it is never encrypted.
pub fn number(page: &[u8]) -> Option<u32> {
    be32(page, NUMBER)
}

/// Page `number` of a tablespace.
pub fn judge(header: &SpaceHeader, number: u32, page: &[u8]) -> Page {
    if page.len() != header.page_bytes {
        return Page::Unknown("the page is not complete");
    }
    if is_zero(page) {
        return Page::Zero;
    }
    let (Some(own), Some(kind)) = (be32(page, NUMBER), be16(page, KIND)) else {
        return Page::Unknown("the page is not complete");
    };
    if header.is_doublewrite(number) {
        let family = if header.layout == Layout::MySql { Family::MySql } else { Family::MariaDb };
        return copy(family, page);
    }
    if own != number {
        return Page::Unknown("the page has the number of another one");
    }
    let is_system = header.space_id == 0 && number == TRX_SYS_PAGE && kind == KIND_TRX_SYS;
    if number == 0 || is_system {
        return Page::Never;
    }
    let told = match header.layout {
        Layout::FullCrc32 => match full_crc32(page, kind) {
            Page::Plain { kind: 0 } if page.get(DATA..page.len() - CHECKSUM_BYTES).is_some_and(is_zero) => {
                Page::Zero
            }
            // The space id is a part of the ciphertext, so it tells a page that is not plain where no key version does.
            // Compressed data begins before it.
            Page::Plain { kind }
                if kind & COMPRESSED_MARK == 0 && be32(page, SPACE_ID) != Some(header.space_id) =>
            {
                if header.space_id == MARIADB_TEMPORARY {
                    Page::Encrypted { key_version: None }
                } else {
                    Page::Unknown("the page has the number of another tablespace, and no key version")
                }
            }
            told => told,
        },
        Layout::MariaDb => {
            let computed = if header.is_zipped { zipped_crc32(page) } else { old_crc32(page) };
            let holds = computed.is_some() && computed == be32(page, ENCRYPTED_CHECKSUM);
            mariadb(page, kind, header.is_zipped, holds)
        }
        Layout::MySql => return mysql(page, kind, header.is_zipped),
    };
    without_extents(told, number, header.page_bytes)
}

/// Descriptors of extents, where they have to be, are nothing that MariaDB encrypts.
fn without_extents(told: Page, number: u32, page_bytes: usize) -> Page {
    let is_theirs = usize::try_from(number).is_ok_and(|number| number.is_multiple_of(page_bytes));
    if is_theirs && told == (Page::Plain { kind: KIND_EXTENTS }) { Page::Never } else { told }
}

/// A page of some tablespace in a doublewrite buffer: its number and layout are those of where it goes.
pub fn copy(family: Family, page: &[u8]) -> Page {
    if page.len() < PAGE_BYTES_MIN {
        return Page::Unknown("the page is not complete");
    }
    if is_zero(page) {
        return Page::Zero;
    }
    let (Some(kind), Some(number), Some(space)) =
        (be16(page, KIND), be32(page, NUMBER), be32(page, SPACE_ID))
    else {
        return Page::Unknown("the page is not complete");
    };
    if (number == 0 && kind == KIND_FSP_HEADER)
        || (space == 0 && number == TRX_SYS_PAGE && kind == KIND_TRX_SYS)
    {
        return Page::Never;
    }
    if family == Family::MySql {
        // A copy of a compressed table's page is shorter than its slot, so that no end can be compared.
        return mysql(page, kind, true);
    }
    let full = full_crc32(page, kind);
    if !matches!(full, Page::Unknown(_)) {
        return without_extents(full, number, page.len());
    }
    // Of the older layout, if its checksum holds: key versions stand elsewhere there, and must not be guessed.
    let stored =
        if be32(page, KEY_VERSION) == Some(0) { be32(page, 0) } else { be32(page, ENCRYPTED_CHECKSUM) };
    let is_old = old_crc32(page).is_some_and(|computed| stored == Some(computed));
    let is_zipped = || {
        let sizes = [1024, 2048, 4096, 8192, 16_384].into_iter();
        sizes.filter_map(|bytes| zipped_crc32(page.get(..bytes)?)).any(|computed| stored == Some(computed))
    };
    let is_compressed = || kind == MARIADB_COMPRESSED && be32(page, 0) == Some(NO_CHECKSUM);
    if is_old || is_compressed() || is_zipped() {
        // Of a compressed table the size of a page is not known here; none is smaller.
        return without_extents(mariadb(page, kind, true, true), number, ZIPPED_BYTES_MIN);
    }
    Page::Unknown("a copy of a page whose checksum is none that is known")
}

fn full_crc32(page: &[u8], kind: u16) -> Page {
    let bytes =
        if kind & COMPRESSED_MARK == 0 { page.len() } else { usize::from(kind & !COMPRESSED_MARK) << 8 };
    let data = bytes.checked_sub(CHECKSUM_BYTES).and_then(|end| page.get(..end));
    let stored = data.and_then(|data| be32(page, data.len()));
    // Of the bytes as they stand in the file, so a page that is being written is not taken for one that is whole.
    if data.is_none_or(|data| stored != Some(crc32c::crc32c(data))) {
        return Page::Unknown("the checksum does not hold");
    }
    match be32(page, 0) {
        None => Page::Unknown("the page is not complete"),
        Some(0) => Page::Plain { kind },
        // On a file system that punches no holes: what lay there before the page was compressed may be rows.
        Some(_) if page.get(bytes..).is_some_and(|rest| rest.iter().any(|byte| *byte != 0)) => {
            Page::Unknown("bytes that are not of the page lie behind its compressed part")
        }
        Some(version) => Page::Encrypted { key_version: Some(version) },
    }
}

/// CRC-32C as both families write it: without checksums, LSN of the flush, key version and space id, which are written
/// later.
fn old_crc32(page: &[u8]) -> Option<u32> {
    let end = page.len().checked_sub(TRAILER)?;
    Some(crc32c::crc32c(page.get(NUMBER..KEY_VERSION)?) ^ crc32c::crc32c(page.get(DATA..end)?))
}

/// The same of `ROW_FORMAT=COMPRESSED`, whose pages have no trailer.
fn zipped_crc32(page: &[u8]) -> Option<u32> {
    let [number, kind, rest] = [page.get(NUMBER..LSN)?, page.get(KIND..KEY_VERSION)?, page.get(SPACE_ID..)?];
    Some(crc32c::crc32c(number) ^ crc32c::crc32c(kind) ^ crc32c::crc32c(rest))
}

/// A page that is being written has the LSN of before or after at its end.
fn is_whole(page: &[u8]) -> bool {
    let end = page.len().checked_sub(CHECKSUM_BYTES).and_then(|at| be32(page, at));
    end.is_some() && end == be32(page, LSN_LOW)
}

/// `holds`: the checksum over the ciphertext. A number where the key version stands is a claim: older servers wrote other things
/// there.
fn mariadb(page: &[u8], kind: u16, has_no_end: bool, holds: bool) -> Page {
    let Some(version) = be32(page, KEY_VERSION) else { return Page::Unknown("the page is not complete") };
    let is_compressed = kind == MARIADB_COMPRESSED || kind == MARIADB_COMPRESSED_ENCRYPTED;
    if !is_compressed && kind > MARIADB_KIND_MAX && !INDEX_KINDS.contains(&kind) {
        return Page::Unknown("the type of the page is not known");
    }
    // An R-tree keeps something else at the key version's place, and was never encrypted in this layout.
    if version != 0 && kind != KIND_RTREE && kind != MARIADB_COMPRESSED {
        if !holds {
            return Page::Unknown(
                "it has a key version, and the checksum of an encrypted page does not hold",
            );
        }
        return Page::Encrypted { key_version: Some(version) };
    }
    if kind == MARIADB_COMPRESSED_ENCRYPTED {
        return Page::Unknown("an encrypted page without a key version");
    }
    if !is_compressed && !has_no_end && !is_whole(page) {
        return Page::Unknown("begin and end of the page are of different writes");
    }
    Page::Plain { kind }
}

fn mysql(page: &[u8], kind: u16, has_no_end: bool) -> Page {
    const COMPRESSED: u16 = 14;
    if MYSQL_ENCRYPTED.contains(&kind) {
        return Page::Encrypted { key_version: None };
    }
    if kind > MYSQL_KIND_MAX && !INDEX_KINDS.contains(&kind) {
        return Page::Unknown("the type of the page is not known");
    }
    if kind != COMPRESSED && !has_no_end && !is_whole(page) {
        return Page::Unknown("begin and end of the page are of different writes");
    }
    Page::Plain { kind }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn space(layout: Layout, space_id: u32, page_bytes: usize) -> SpaceHeader {
        SpaceHeader {
            space_id,
            flags: 0,
            layout,
            page_bytes,
            is_zipped: false,
            crypt: None,
            is_flagged_encrypted: false,
            doublewrite: None,
        }
    }

    fn put(page: &mut [u8], at: usize, value: u32) {
        page[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    /// A page with data in it, and an LSN at both ends.
    fn page(bytes: usize, number: u32, kind: u16) -> Vec<u8> {
        let mut page = vec![b'd'; bytes];
        page[..DATA].fill(0);
        put(&mut page, NUMBER, number);
        put(&mut page, LSN_LOW, 99);
        page[KIND..KIND + 2].copy_from_slice(&kind.to_be_bytes());
        put(&mut page, SPACE_ID, 7);
        put(&mut page, bytes - 4, 99);
        page
    }

    #[test]
    fn a_page_of_no_type_that_holds_nothing_is_as_one_that_was_never_written() {
        let header = space(Layout::FullCrc32, 7, 4096);
        let mut empty = page(4096, 4, 0);
        empty[DATA..].fill(0);
        assert_eq!(judge(&header, 4, &sealed(empty.clone(), 0)), Page::Zero);
        assert_eq!(judge(&header, 4, &sealed(empty.clone(), 1)), Page::Encrypted { key_version: Some(1) });
        empty[4000] = b'r';
        assert_eq!(judge(&header, 4, &sealed(empty.clone(), 0)), Page::Plain { kind: 0 });
        empty[4000] = 0;
        empty[KIND + 1] = 6;
        assert_eq!(judge(&header, 4, &sealed(empty, 0)), Page::Plain { kind: 6 });
    }

    fn sealed(mut page: Vec<u8>, key_version: u32) -> Vec<u8> {
        put(&mut page, 0, key_version);
        let end = page.len() - 4;
        let crc = crc32c::crc32c(&page[..end]);
        put(&mut page, end, crc);
        page
    }

    #[test]
    fn a_full_crc32_page_is_what_its_key_version_says_if_it_is_whole() {
        let header = space(Layout::FullCrc32, 7, 4096);
        let of = |version| sealed(page(4096, 3, 17_855), version);
        assert_eq!(judge(&header, 3, &of(0)), Page::Plain { kind: 17_855 });
        assert_eq!(judge(&header, 3, &of(2)), Page::Encrypted { key_version: Some(2) });
        assert_eq!(judge(&header, 3, &[0; 4096]), Page::Zero);
        let mut torn = of(2);
        torn[2000] ^= 1;
        assert!(matches!(judge(&header, 3, &torn), Page::Unknown(_)));
        assert!(matches!(judge(&header, 4, &of(2)), Page::Unknown(_)), "it is another page");
        assert!(matches!(judge(&header, 3, &of(2)[..4000]), Page::Unknown(_)));
        // Bytes 26 and on are ciphertext in a page of the temporary tablespace, and it names no key.
        let temporary = space(Layout::FullCrc32, MARIADB_TEMPORARY, 4096);
        assert_eq!(judge(&temporary, 3, &of(0)), Page::Encrypted { key_version: None });
        assert!(matches!(judge(&space(Layout::FullCrc32, 8, 4096), 3, &of(0)), Page::Unknown(_)));
        let mut plain = page(4096, 3, 17_855);
        put(&mut plain, SPACE_ID, MARIADB_TEMPORARY);
        assert_eq!(judge(&temporary, 3, &sealed(plain, 0)), Page::Plain { kind: 17_855 });
        // A compressed page is shorter, and its checksum stands where it ends.
        let mut short = page(4096, 3, COMPRESSED_MARK | 2);
        short.truncate(512);
        let mut short = sealed(short, 1);
        short.resize(4096, 0);
        assert_eq!(judge(&header, 3, &short), Page::Encrypted { key_version: Some(1) });
    }

    #[test]
    fn older_layouts_are_told_by_key_version_checksum_and_type() {
        let maria = space(Layout::MariaDb, 7, 4096);
        let mut encrypted = page(4096, 3, 17_855);
        assert_eq!(judge(&maria, 3, &encrypted), Page::Plain { kind: 17_855 });
        put(&mut encrypted, KEY_VERSION, 4);
        assert!(matches!(judge(&maria, 3, &encrypted), Page::Unknown(_)), "anything can stand there");
        let crc = old_crc32(&encrypted).unwrap();
        put(&mut encrypted, ENCRYPTED_CHECKSUM, crc);
        assert_eq!(judge(&maria, 3, &encrypted), Page::Encrypted { key_version: Some(4) });
        encrypted[2000] ^= 1;
        assert!(matches!(judge(&maria, 3, &encrypted), Page::Unknown(_)), "it is being written");
        let zipped = SpaceHeader { is_zipped: true, ..space(Layout::MariaDb, 7, 4096) };
        let crc = zipped_crc32(&encrypted).unwrap();
        put(&mut encrypted, ENCRYPTED_CHECKSUM, crc);
        assert_eq!(judge(&zipped, 3, &encrypted), Page::Encrypted { key_version: Some(4) });
        let mut rtree = page(4096, 3, KIND_RTREE);
        put(&mut rtree, KEY_VERSION, 4);
        assert_eq!(judge(&maria, 3, &rtree), Page::Plain { kind: KIND_RTREE }, "a split number");
        let mysql = space(Layout::MySql, 7, 4096);
        for kind in 15..=17 {
            assert_eq!(judge(&mysql, 3, &page(4096, 3, kind)), Page::Encrypted { key_version: None });
        }
        for kind in [2, 3, 6, 14, 21, 29, 17_853, 17_855] {
            assert_eq!(judge(&mysql, 3, &page(4096, 3, kind)), Page::Plain { kind });
        }
        assert!(matches!(judge(&mysql, 3, &page(4096, 3, 30_000)), Page::Unknown(_)));
        let mut torn = page(4096, 3, 17_855);
        put(&mut torn, LSN_LOW, 98);
        for header in [&maria, &mysql] {
            assert!(matches!(judge(header, 3, &torn), Page::Unknown(_)));
        }
    }

    /// Pages of MariaDB 10.11.19 with `innodb_page_size=4k`, of tables with ENCRYPTED=YES, in the layout of today and in that of
    /// `innodb_checksum_algorithm=crc32`.
    #[test]
    fn descriptors_of_extents_in_real_files_are_never_encrypted() {
        macro_rules! file {
            ($name:literal) => {
                include_bytes!(concat!("../../testdata/innodb/mariadb-10.11.19-4k-", $name, ".bin"))
            };
        }
        for (first, extents, index, layout) in [
            (file!("full-page0"), file!("full-page4096"), file!("full-page50"), Layout::FullCrc32),
            (file!("crc32-page0"), file!("crc32-page4096"), file!("crc32-page50"), Layout::MariaDb),
        ] {
            let header = SpaceHeader::read(first, Some(Family::MariaDb)).unwrap();
            assert_eq!((header.layout, header.page_bytes), (layout, 4096));
            assert_eq!(judge(&header, 0, first), Page::Never);
            assert_eq!(judge(&header, 4096, extents), Page::Never);
            assert_eq!(copy(Family::MariaDb, extents), Page::Never);
            assert_eq!(judge(&header, 50, index), Page::Encrypted { key_version: Some(1) });
            assert_eq!(copy(Family::MariaDb, index), Page::Encrypted { key_version: Some(1) });
        }
        // Only where they have to be: rows under that type would be plain.
        let elsewhere = sealed(page(4096, 5, KIND_EXTENTS), 0);
        let header = space(Layout::FullCrc32, 7, 4096);
        assert_eq!(judge(&header, 5, &elsewhere), Page::Plain { kind: KIND_EXTENTS });
        let mysql = space(Layout::MySql, 7, 4096);
        let extents = page(4096, 4096, KIND_EXTENTS);
        assert_eq!(judge(&mysql, 4096, &extents), Page::Plain { kind: KIND_EXTENTS }, "MySQL encrypts them");
    }

    #[test]
    fn what_no_server_encrypts_is_no_plain_page() {
        for layout in [Layout::FullCrc32, Layout::MariaDb, Layout::MySql] {
            assert_eq!(judge(&space(layout, 7, 4096), 0, &page(4096, 0, 8)), Page::Never);
            let trx = page(4096, 5, KIND_TRX_SYS);
            assert_eq!(judge(&space(layout, 0, 4096), 5, &trx), Page::Never);
            assert_ne!(judge(&space(layout, 9, 4096), 5, &trx), Page::Never, "of the system tablespace only");
        }
    }

    #[test]
    fn a_copy_is_judged_by_its_own_checksum() {
        let header = SpaceHeader { doublewrite: Some([64, 512]), ..space(Layout::FullCrc32, 0, 4096) };
        assert_eq!(judge(&header, 70, &sealed(page(4096, 9, 17_855), 0)), Page::Plain { kind: 17_855 });
        let full = sealed(page(4096, 9, 17_855), 1);
        assert_eq!(judge(&header, 70, &full), Page::Encrypted { key_version: Some(1) });
        let mut old = page(4096, 9, 17_855);
        assert!(matches!(judge(&header, 70, &old), Page::Unknown(_)), "no checksum holds");
        let crc = old_crc32(&old).unwrap();
        put(&mut old, 0, crc);
        assert_eq!(judge(&header, 70, &old), Page::Plain { kind: 17_855 });
        put(&mut old, KEY_VERSION, 6);
        put(&mut old, ENCRYPTED_CHECKSUM, crc);
        assert_eq!(judge(&header, 70, &old), Page::Encrypted { key_version: Some(6) });
        // A page of 1 KiB of a compressed table, in a slot of 4 KiB.
        let mut slot = page(4096, 9, 17_855);
        slot[1024..].fill(0);
        let crc = zipped_crc32(&slot[..1024]).unwrap();
        put(&mut slot, 0, crc);
        assert_eq!(judge(&header, 70, &slot), Page::Plain { kind: 17_855 });
        put(&mut slot, ENCRYPTED_CHECKSUM, crc);
        put(&mut slot, KEY_VERSION, 3);
        assert_eq!(judge(&header, 70, &slot), Page::Encrypted { key_version: Some(3) });
        let mut compressed = page(4096, 9, MARIADB_COMPRESSED);
        assert!(matches!(judge(&header, 70, &compressed), Page::Unknown(_)));
        put(&mut compressed, 0, NO_CHECKSUM);
        assert_eq!(judge(&header, 70, &compressed), Page::Plain { kind: MARIADB_COMPRESSED });
        assert_eq!(copy(Family::MySql, &page(4096, 9, 15)), Page::Encrypted { key_version: None });
        assert_eq!(copy(Family::MySql, &page(4096, 0, 8)), Page::Never);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..5000), number: u32, system: bool) {
            for layout in [Layout::FullCrc32, Layout::MariaDb, Layout::MySql] {
                let header = space(layout, if system { 0 } else { 7 }, bytes.len());
                let _ = judge(&header, number, &bytes);
                let _ = ciphertext(&header, number, &bytes);
            }
            let _ = copy(Family::MariaDb, &bytes);
            let _ = copy(Family::MySql, &bytes);
        }

        #[test]
        fn one_flipped_bit_never_makes_a_plain_page_of_an_encrypted_one(at in 0_usize..4096, bit in 0_u8..8) {
            let header = space(Layout::FullCrc32, 7, 4096);
            let mut page = sealed(page(4096, 3, 17_855), 1);
            page[at] ^= 1 << bit;
            prop_assert!(matches!(judge(&header, 3, &page), Page::Unknown(_)));
        }
    }

    #[test]
    fn only_a_whole_encrypted_page_has_something_to_try_a_key_on() {
        let header = space(Layout::FullCrc32, 7, 4096);
        let mut whole = sealed(page(4096, 3, 17_855), 1);
        let found = ciphertext(&header, 3, &whole).unwrap();
        assert_eq!((found.number, found.key_version, found.known), (3, 1, Known::SpaceId));
        assert_eq!(found.start, whole[FULL_TEXT..FULL_TEXT + BLOCK_BYTES]);
        assert_eq!(ciphertext(&header, 3, &sealed(page(4096, 3, 17_855), 0)), None, "a plain one");
        assert_eq!(ciphertext(&header, 3, &sealed(page(4096, 3, 0), 1)), None, "a freed one");
        assert_eq!(ciphertext(&space(Layout::MariaDb, 7, 4096), 3, &whole), None, "the older layout");
        whole[100] ^= 1;
        assert_eq!(ciphertext(&header, 3, &whole), None, "a damaged one");
    }

    #[test]
    fn of_a_compressed_page_only_the_beginning_of_zlib_is_known() {
        let compressed = |flags| {
            let header = SpaceHeader { flags, ..space(Layout::FullCrc32, 7, 4096) };
            let mut short = page(4096, 3, COMPRESSED_MARK | 2);
            short.truncate(512);
            let mut short = sealed(short, 1);
            short.resize(4096, 0);
            ciphertext(&header, 3, &short).map(|found| found.known)
        };
        assert_eq!(compressed(0x33), Some(Known::Zlib));
        // Not said, and LZ4.
        assert_eq!([0x13, 0x53].map(compressed), [None, None]);
    }

    #[test]
    fn of_the_older_layout_index_pages_tell_and_those_of_compressed_tables_do_not() {
        let of = |kind: u16, algorithm: u8, is_zipped| {
            let header = SpaceHeader { is_zipped, ..space(Layout::MariaDb, 7, 4096) };
            let mut page = page(4096, 3, kind);
            page[OLD_ALGORITHM..OLD_ALGORITHM + 2].copy_from_slice(&[0, algorithm]);
            put(&mut page, KEY_VERSION, 1);
            let crc = if is_zipped { zipped_crc32(&page) } else { old_crc32(&page) }.unwrap();
            put(&mut page, ENCRYPTED_CHECKSUM, crc);
            assert_eq!(judge(&header, 3, &page), Page::Encrypted { key_version: Some(1) });
            ciphertext(&header, 3, &page).map(|found| (found.known, found.start.len()))
        };
        assert_eq!(of(17_855, 0, false), Some((Known::Infimum, INFIMUM_TEXT_BYTES)));
        assert_eq!(of(MARIADB_COMPRESSED_ENCRYPTED, 1, false), Some((Known::Zlib, BLOCK_BYTES)));
        assert_eq!(of(MARIADB_COMPRESSED_ENCRYPTED, 2, false), None, "LZ4");
        assert_eq!(of(17_855, 0, true), None, "ROW_FORMAT=COMPRESSED");
        // Type 18: after an instant ALTER TABLE something else stands at the lowest record's place.
        assert_eq!(of(18, 0, false), None);
        assert_eq!(of(3, 0, false), None);
    }

    #[test]
    fn what_lies_behind_a_compressed_page_is_not_called_encrypted() {
        const COMPRESSED: usize = 4096;
        let kind = COMPRESSED_MARK | u16::try_from(COMPRESSED >> 8).unwrap();
        let mut page = vec![0_u8; 16_384];
        page[3] = 1;
        page[KIND..KIND + 2].copy_from_slice(&kind.to_be_bytes());
        page[100] = 7;
        let end = COMPRESSED - CHECKSUM_BYTES;
        let sum = crc32c::crc32c(&page[..end]).to_be_bytes();
        page[end..COMPRESSED].copy_from_slice(&sum);
        assert_eq!(full_crc32(&page, kind), Page::Encrypted { key_version: Some(1) });
        page[9000] = b'r';
        assert!(matches!(full_crc32(&page, kind), Page::Unknown(_)));
    }
}

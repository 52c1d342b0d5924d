//! InnoDB's files without their keys: what the first page says of a tablespace ([`space`]), what each page is
//! ([`page`]), and the redo log ([`redo`]).
//!
//! Nothing is decrypted. A page is said to be encrypted only where what its server writes beside the ciphertext is
//! there, and plain only where the page is whole; everything else is [`Page::Unknown`](page::Page::Unknown).

use crate::bytes;

pub mod page;
pub mod redo;
pub mod space;

/// Whose InnoDB wrote a file. The two have used the same bytes for different things since MariaDB 10.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    MariaDb,
    MySql,
}

/// The id of the tablespace whose first bytes these are, whatever the file is called; `None` if they are those of no tablespace. Enough are
/// [`SPACE_START_BYTES`].
///
/// # Source
/// `fil0types.h` and `fsp0types.h` of MariaDB, and of MySQL: number of the page at 4, its type at 24, the id at 34, and again at 38.
pub fn space_of_start(start: &[u8]) -> Option<u32> {
    const FSP_HEADER_TYPE: u16 = 8;
    let id = bytes::be32(start, 34)?;
    let is_one = bytes::be32(start, 4)? == 0
        && bytes::be16(start, 24)? == FSP_HEADER_TYPE
        && bytes::be32(start, 38)? == id
        && start.get(..SPACE_START_BYTES)?.iter().any(|byte| *byte != 0);
    is_one.then_some(id)
}

/// What [`space_of_start`] looks at.
pub const SPACE_START_BYTES: usize = 42;

/// Smallest and largest page (`innodb_page_size`, and `KEY_BLOCK_SIZE` of compressed tables, which goes down to 1 KiB).
pub const PAGE_BYTES_MIN: usize = 1024;
pub const PAGE_BYTES_MAX: usize = 65_536;

//! InnoDB's files without their keys: what the first page says of a tablespace ([`space`]), what each page is
//! ([`page`]), and the redo log ([`redo`]).
//!
//! Nothing is decrypted. A page is said to be encrypted only where what its server writes beside the ciphertext is
//! there, and plain only where the page is whole; everything else is [`Page::Unknown`](page::Page::Unknown).

pub mod page;
pub mod redo;
pub mod space;

/// Whose InnoDB wrote a file. The two have used the same bytes for different things since MariaDB 10.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    MariaDb,
    MySql,
}

/// Smallest and largest page (`innodb_page_size`, and `KEY_BLOCK_SIZE` of compressed tables, which goes down to 1 KiB).
pub const PAGE_BYTES_MIN: usize = 1024;
pub const PAGE_BYTES_MAX: usize = 65_536;

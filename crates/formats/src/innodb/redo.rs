//! The redo log: its header, and in MySQL each of its blocks.
//!
//! A header is no proof in MySQL. Seen on 9.7.4, where `innodb_redo_log_encrypt` was switched on while the server ran:
//! the file of the oldest checkpoint has the key (`lCC`) in its header and plain blocks behind it, the file in use has
//! no key in its header and encrypted blocks behind the plain ones. Each block tells for itself.

use crate::bytes::{array, be16, be32, is_zero, text};

/// Enough of the file's start for [`read`].
pub const HEADER_BYTES: usize = 2048;
/// MySQL's unit of writing.
pub const BLOCK_BYTES: usize = 512;
const CREATOR: usize = 16;
const CREATOR_BYTES: usize = 32;
/// MySQL 8.0.30 and newer; 6 was seen in 9.7.4. Older formats have other headers.
const MYSQL_FORMATS: std::ops::RangeInclusive<u32> = 5..=6;
/// Where MySQL keeps the wrapped key: behind the header block and the first checkpoint.
const MYSQL_CRYPT: usize = 1072;
const MYSQL_BLOCK_ENCRYPTED: u16 = 1 << 15;
/// MariaDB 10.8 and newer: "Phys", and the same encrypted.
const MARIADB_PLAIN: [u8; 4] = *b"Phys";
const MARIADB_ENCRYPTED: [u8; 4] = [0xf0, 0x9f, 0x97, 0x9d];
const MARIADB_KEY: usize = 48;

/// What the start of a redo log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redo {
    /// MariaDB 10.8 and newer: all of the file is as its header says, because it is made anew when that changes.
    MariaDb { key: Option<RedoKey>, creator: String },
    /// MySQL 8.0.30 and newer, with the key that it may have: look at the blocks from [`HEADER_BYTES`] on.
    MySql { master_key_id: Option<u32>, creator: String },
    /// Made ready and not used yet.
    Zero,
    /// Neither, or older.
    Unknown(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedoKey {
    pub id: u32,
    pub version: u32,
}

/// The first [`HEADER_BYTES`] of a redo log.
pub fn read(start: &[u8]) -> Redo {
    if start.len() < HEADER_BYTES {
        return Redo::Unknown("the header is not complete");
    }
    let creator = text(start.get(CREATOR..CREATOR + CREATOR_BYTES).unwrap_or_default());
    match array::<4>(start, 0) {
        Some(MARIADB_PLAIN) => return Redo::MariaDb { key: None, creator },
        Some(MARIADB_ENCRYPTED) => {
            let (Some(id), Some(version)) = (be32(start, MARIADB_KEY), be32(start, MARIADB_KEY + 4)) else {
                return Redo::Unknown("the header is not complete");
            };
            return Redo::MariaDb { key: Some(RedoKey { id, version }), creator };
        }
        _ => {}
    }
    if start.get(..HEADER_BYTES).is_some_and(is_zero) {
        return Redo::Zero;
    }
    if be32(start, 0).is_some_and(|format| MYSQL_FORMATS.contains(&format)) {
        let has_key = array::<3>(start, MYSQL_CRYPT) == Some(*b"lCC");
        let master_key_id = has_key.then(|| be32(start, MYSQL_CRYPT + 3)).flatten();
        return Redo::MySql { master_key_id, creator };
    }
    Redo::Unknown("a format of the redo log that is not known")
}

/// One block of a MySQL redo log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    Zero,
    /// Its checksum holds over what stands there.
    Plain,
    /// It says so.
    Encrypted,
    Unknown(&'static str),
}

/// A block behind the header of a MySQL redo log.
pub fn block(bytes: &[u8]) -> Block {
    if bytes.len() != BLOCK_BYTES {
        return Block::Unknown("the block is not complete");
    }
    if is_zero(bytes) {
        return Block::Zero;
    }
    if be16(bytes, 4).is_some_and(|length| length & MYSQL_BLOCK_ENCRYPTED != 0) {
        return Block::Encrypted;
    }
    let end = BLOCK_BYTES - 4;
    match bytes.get(..end) {
        Some(data) if be32(bytes, end) == Some(crc32c::crc32c(data)) => Block::Plain,
        // Without innodb_log_checksums, or being written.
        _ => Block::Unknown("the checksum of the block does not hold"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(start: &[u8], creator: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..start.len()].copy_from_slice(start);
        bytes[CREATOR..CREATOR + creator.len()].copy_from_slice(creator);
        bytes
    }

    #[test]
    fn headers_of_both_families_are_read() {
        let plain = header(b"Phys", b"MariaDB 10.11.19");
        let creator = "MariaDB 10.11.19".to_owned();
        assert_eq!(read(&plain), Redo::MariaDb { key: None, creator: creator.clone() });
        let mut encrypted = header(&MARIADB_ENCRYPTED, b"MariaDB 10.11.19");
        encrypted[51] = 1;
        encrypted[55] = 3;
        let key = Some(RedoKey { id: 1, version: 3 });
        assert_eq!(read(&encrypted), Redo::MariaDb { key, creator });
        let mut mysql = header(&[0, 0, 0, 6], b"MySQL 9.7.4");
        let creator = "MySQL 9.7.4".to_owned();
        assert_eq!(read(&mysql), Redo::MySql { master_key_id: None, creator: creator.clone() });
        mysql[MYSQL_CRYPT..MYSQL_CRYPT + 7].copy_from_slice(b"lCC\0\0\0\x02");
        assert_eq!(read(&mysql), Redo::MySql { master_key_id: Some(2), creator });
        assert_eq!(read(&[0; HEADER_BYTES]), Redo::Zero);
        assert!(matches!(read(&header(&[0, 0, 0, 103], b"MariaDB 10.3")), Redo::Unknown(_)));
        assert!(matches!(read(&plain[..HEADER_BYTES - 1]), Redo::Unknown(_)));
    }

    #[test]
    fn a_block_is_plain_only_if_its_checksum_holds() {
        let mut bytes = [7; BLOCK_BYTES];
        bytes[4] = 0;
        assert!(matches!(block(&bytes), Block::Unknown(_)));
        let crc = crc32c::crc32c(&bytes[..BLOCK_BYTES - 4]).to_be_bytes();
        bytes[BLOCK_BYTES - 4..].copy_from_slice(&crc);
        assert_eq!(block(&bytes), Block::Plain);
        bytes[4] |= 0x80;
        assert_eq!(block(&bytes), Block::Encrypted);
        assert_eq!(block(&[0; BLOCK_BYTES]), Block::Zero);
        assert!(matches!(block(&bytes[1..]), Block::Unknown(_)));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2500)) {
            let _ = read(&bytes);
            let _ = block(&bytes);
        }
    }
}

//! The first bytes of a file that holds data of a server without being one of its own: dumps, backup streams, copies of tablespaces and of
//! binary logs. What is encrypted, by the tools of these servers, is told as such; of other encrypted files nothing is said.

use std::io::Read;

use crate::binlog::{self, Binlog};
use crate::bytes::be16;
use crate::gzip;
use crate::innodb::{PAGE_BYTES_MAX, space};
use crate::xbstream;

/// Enough to tell most files.
pub const START_BYTES: usize = 4096;
/// A page of InnoDB has as many at most, and a packed text of [`START_BYTES`] fewer.
const PACKED_BYTES: usize = PAGE_BYTES_MAX;
/// A block of Zstandard has 128 KiB at most, and is unpacked as a whole.
const ZSTD_BYTES: usize = 192 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// Statements that make tables and their rows.
    Dump,
    CompressedDump,
    /// Of mariabackup or XtraBackup.
    BackupStream,
    CompressedBackupStream,
    Tablespace,
    BinaryLog,
}

impl Leftover {
    pub const ALL: [Self; 6] = [
        Self::Dump,
        Self::CompressedDump,
        Self::BackupStream,
        Self::CompressedBackupStream,
        Self::Tablespace,
        Self::BinaryLog,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Self::Dump => "a dump",
            Self::CompressedDump => "a compressed dump",
            Self::BackupStream => "a backup stream",
            Self::CompressedBackupStream => "a compressed backup stream",
            Self::Tablespace => "a copy of a tablespace",
            Self::BinaryLog => "a binary log",
        }
    }

    /// A file that a server keeps in its own directories.
    pub fn is_of_a_server(self) -> bool {
        matches!(self, Self::Tablespace | Self::BinaryLog)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// It can be read by whoever has the file.
    Readable(Leftover),
    Encrypted(Leftover),
    /// Something else.
    Other,
    /// With so many bytes from its beginning, or all of the file, more can be said.
    Needs(usize),
    /// It begins as such a file does, and cannot be read.
    Unknown(&'static str),
}

/// How dumps begin. Sources: `mysqldump.c` of both families, `dump.c` of mysqlpump, mydumper, phpMyAdmin.
const DUMPS: [&[u8]; 7] = [
    b"-- MariaDB dump",
    b"-- MySQL dump",
    b"/*M!999999",
    b"/*!999999",
    b"-- Dump created by MySQL pump utility",
    b"/*!40101 SET NAMES binary*/;",
    b"-- phpMyAdmin SQL Dump",
];
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const FSP_HEADER_PAGE: u16 = 8;
const PAGE_KIND: usize = 24;

/// `start` are the first bytes of a file, or all of it; `is_all` where nothing stands behind them.
pub fn read(start: &[u8], is_all: bool) -> Content {
    let needs = |bytes: usize| !is_all && start.len() < bytes;
    if start.starts_with(&GZIP) {
        if needs(PACKED_BYTES) {
            return Content::Needs(PACKED_BYTES);
        }
        return compressed(&gzip::inflate_start(start, START_BYTES));
    }
    if start.starts_with(&ZSTD) {
        if needs(ZSTD_BYTES) {
            return Content::Needs(ZSTD_BYTES);
        }
        let mut plain = Vec::new();
        if let Ok(decoder) = ruzstd::decoding::StreamingDecoder::new(start) {
            // What came before an error is what there is: the rest of the file is not here.
            let _ = decoder.take(START_BYTES as u64).read_to_end(&mut plain);
        }
        return compressed(&plain);
    }
    if let Some(found) = text_or_stream(start) {
        return found;
    }
    match binlog::read(start) {
        Binlog::Plain => return Content::Readable(Leftover::BinaryLog),
        Binlog::MariaDbEncrypted { .. } | Binlog::MySqlEncrypted { .. } => {
            return Content::Encrypted(Leftover::BinaryLog);
        }
        Binlog::Unknown(why) => return Content::Unknown(why),
        Binlog::Empty | Binlog::Other => {}
    }
    let is_first_page = be16(start, PAGE_KIND) == Some(FSP_HEADER_PAGE) && start.get(4..8) == Some(&[0; 4]);
    if !is_first_page {
        return Content::Other;
    }
    if needs(PAGE_BYTES_MAX) {
        return Content::Needs(PAGE_BYTES_MAX);
    }
    match space::SpaceHeader::read(start, None) {
        Ok(header) => {
            let is_encrypted = match header.crypt {
                Some(space::Crypt::MariaDb { scheme, min_key_version, .. }) => {
                    scheme == 1 && min_key_version > 0
                }
                Some(space::Crypt::MySql { .. }) => true,
                None => header.is_flagged_encrypted,
            };
            let which = if is_encrypted { Content::Encrypted } else { Content::Readable };
            which(Leftover::Tablespace)
        }
        // Of an old one it is not known whose it is, and neither could encrypt it then.
        Err(space::NotASpace::Family) => Content::Readable(Leftover::Tablespace),
        Err(_) => Content::Other,
    }
}

fn compressed(plain: &[u8]) -> Content {
    match text_or_stream(plain) {
        Some(Content::Readable(Leftover::Dump)) => Content::Readable(Leftover::CompressedDump),
        Some(Content::Readable(Leftover::BackupStream)) => {
            Content::Readable(Leftover::CompressedBackupStream)
        }
        Some(found) => found,
        None => Content::Other,
    }
}

fn text_or_stream(start: &[u8]) -> Option<Content> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if DUMPS.iter().any(|begin| text.starts_with(begin)) {
        return Some(Content::Readable(Leftover::Dump));
    }
    match xbstream::parse(start) {
        // XtraBackup gives this suffix to what it has encrypted.
        Ok(xbstream::Parsed::Head { head, .. }) if head.path.ends_with(b".xbcrypt") => {
            Some(Content::Encrypted(Leftover::BackupStream))
        }
        Ok(xbstream::Parsed::Head { .. }) => Some(Content::Readable(Leftover::BackupStream)),
        Ok(xbstream::Parsed::Needs(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gzipped(plain: &[u8]) -> Vec<u8> {
        let body = miniz_oxide::deflate::compress_to_vec(plain, 6);
        let length = u32::try_from(plain.len()).expect("short").to_le_bytes();
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3][..], &body, &crc32fast::hash(plain).to_le_bytes(), &length]
            .concat()
    }

    fn zstd(plain: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// A chunk with a payload of one byte.
    fn stream(path: &str) -> Vec<u8> {
        let length = u32::try_from(path.len()).expect("short").to_le_bytes();
        [&b"XBSTCK01\0P"[..], &length, path.as_bytes(), &1_u64.to_le_bytes(), &[0; 8], &[0; 4], b"x"].concat()
    }

    #[test]
    fn dumps_and_streams_are_told_by_their_first_bytes_also_when_they_are_packed() {
        use Leftover::*;
        let dump =
            b"-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)\n".repeat(5000);
        for plain in
            [&dump[..], b"/*M!999999\\- enable the sandbox mode */ \n", b"-- MySQL dump 10.13  Distrib 9.7.4"]
        {
            assert_eq!(read(plain, true), Content::Readable(Dump));
            assert_eq!(read(&gzipped(plain), true), Content::Readable(CompressedDump));
            assert_eq!(read(&zstd(plain), true), Content::Readable(CompressedDump));
        }
        // Only the beginning of a packed file is there.
        let noise: Vec<u8> =
            (0..600_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let long = [&dump[..], &noise].concat();
        for packed in [gzipped(&long), zstd(&long)] {
            let Content::Needs(bytes) = read(&packed[..START_BYTES], false) else { panic!("it needs more") };
            assert!(bytes < packed.len());
            assert_eq!(read(&packed[..bytes], false), Content::Readable(CompressedDump));
        }
        assert_eq!(read(&stream("ibdata1"), true), Content::Readable(BackupStream));
        assert_eq!(read(&gzipped(&stream("ibdata1")), true), Content::Readable(CompressedBackupStream));
        assert_eq!(read(&stream("ibdata1.xbcrypt"), true), Content::Encrypted(BackupStream));
        for other in [
            &b"-- a script of ours\nSELECT 1;"[..],
            b"",
            b"XBCRYP03",
            b"age-encryption.org/v1\n",
            b"Salted__12345678",
        ] {
            assert_eq!(read(other, true), Content::Other);
            assert_eq!(read(&gzipped(other), true), Content::Other);
        }
        assert_eq!(read(b"\x1f\x8b\x08", true), Content::Other, "damaged");
    }

    #[test]
    fn a_copy_of_a_tablespace_is_told_by_its_first_page_and_an_encrypted_one_as_such() {
        // full_crc32 with pages of 16 KiB, as MariaDB 10.11 makes it.
        let page = |scheme: u8| {
            let mut page = vec![0; 16_384];
            page[PAGE_KIND..PAGE_KIND + 2].copy_from_slice(&FSP_HEADER_PAGE.to_be_bytes());
            for at in [34, 38] {
                page[at..at + 4].copy_from_slice(&7_u32.to_be_bytes());
            }
            page[54..58].copy_from_slice(&0x15_u32.to_be_bytes());
            if scheme > 0 {
                // Behind 256 descriptors of 40 bytes each, and 38 bytes more.
                let at = 150 + 256 * 40 + 38;
                page[at..at + 6].copy_from_slice(b"s\x0e\x0cREt");
                page[at + 6] = scheme;
                page[at + 7] = 16;
                page[at + 24..at + 28].copy_from_slice(&1_u32.to_be_bytes());
                page[at + 28..at + 32].copy_from_slice(&1_u32.to_be_bytes());
            }
            page
        };
        assert_eq!(read(&page(0), true), Content::Readable(Leftover::Tablespace));
        assert_eq!(read(&page(0)[..START_BYTES], false), Content::Needs(PAGE_BYTES_MAX));
        assert_eq!(read(&page(1), true), Content::Encrypted(Leftover::Tablespace));
        assert_eq!(read(&[0; 16_384], true), Content::Other);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), front in 0..5_usize, is_all: bool) {
            let fronts = [&b""[..], &GZIP, &ZSTD, b"XBSTCK01\0P", b"\xfebin"];
            let _ = read(&[fronts[front], &bytes].concat(), is_all);
        }
    }
}

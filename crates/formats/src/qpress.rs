//! What mariabackup (`--compress`) and XtraBackup (`--compress=quicklz`) write as `.qp`: an archive of qpress with
//! one file in it. All numbers are little-endian.
//!
//! ```text
//! "qpress10" | largest block u64 | "F" | name length u32 | name | 0
//! blocks:  "NEWBNEWB" | offset in the file u64 | Adler-32 of the packet u32 | a packet of QuickLZ ([`quicklz`])
//! end:     "ENDSENDS" | u64, which tells nothing
//! ```
//! Sources: `ds_compress.cc` of both tools; seen in files of mariabackup 10.11.19.

pub mod quicklz;

use crate::bytes::{array, le32, le64};
use quicklz::PacketError;

const MAGIC: &[u8; 8] = b"qpress10";
const BLOCK: &[u8; 8] = b"NEWBNEWB";
const END: &[u8; 8] = b"ENDSENDS";
const FILE_HEAD_BYTES: usize = 8 + 8 + 1 + 4;
const BLOCK_HEAD_BYTES: usize = 8 + 8 + 4;
const END_BYTES: usize = 16;
/// Source: `FN_REFLEN`, as of the paths in the stream.
const NAME_BYTES_MAX: usize = 512;
/// `--compress-chunk-size` is 64 KiB; it can be set, and nobody gains by more than this.
pub const BLOCK_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'b> {
    /// Too few bytes: with this many, from the beginning of the part, more can be said.
    Needs(usize),
    File {
        /// No block has more, uncompressed.
        block_bytes_max: usize,
        bytes: usize,
    },
    Block {
        offset: u64,
        plain_bytes: usize,
        packet: &'b [u8],
        bytes: usize,
    },
    End {
        bytes: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("no archive of qpress begins there (it would begin with qpress10)")]
    Magic,
    #[error("blocks of {0} bytes are announced; none has more than {BLOCK_BYTES_MAX}")]
    Blocks(u64),
    #[error("an archive of qpress holds what is no file")]
    NoFile,
    #[error("a name in an archive of qpress has {0} bytes; none has more than {NAME_BYTES_MAX}")]
    Name(u32),
    #[error("neither a block nor the end of an archive of qpress begins there")]
    BlockMagic,
    #[error("a block has {found} bytes; the archive announced no more than {most}")]
    Block { found: u64, most: usize },
    #[error("the Adler-32 of a block is 0x{found:08x}, and should be 0x{wanted:08x}: it was changed or lost")]
    Adler { found: u32, wanted: u32 },
    #[error("a block cannot be decompressed: {0}")]
    Packet(#[from] PacketError),
}

fn begins(bytes: &[u8], magic: &[u8]) -> bool {
    magic.starts_with(bytes.get(..magic.len().min(bytes.len())).unwrap_or_default())
}

/// The beginning of an archive.
///
/// # Errors
/// It is none, or is beyond a limit.
pub fn parse_file(bytes: &[u8]) -> Result<Part<'_>, ArchiveError> {
    if !begins(bytes, MAGIC) {
        return Err(ArchiveError::Magic);
    }
    let (Some(largest), Some(kind), Some(name)) = (le64(bytes, 8), bytes.get(16), le32(bytes, 17)) else {
        return Ok(Part::Needs(FILE_HEAD_BYTES));
    };
    if largest > BLOCK_BYTES_MAX {
        return Err(ArchiveError::Blocks(largest));
    }
    if *kind != b'F' {
        return Err(ArchiveError::NoFile);
    }
    let length = usize::try_from(name).unwrap_or(usize::MAX);
    if length > NAME_BYTES_MAX {
        return Err(ArchiveError::Name(name));
    }
    let end = FILE_HEAD_BYTES + length + 1;
    if bytes.len() < end {
        return Ok(Part::Needs(end));
    }
    Ok(Part::File { block_bytes_max: usize::try_from(largest).unwrap_or(usize::MAX), bytes: end })
}

/// A block, whose checksum is right, or the end.
///
/// # Errors
/// It is neither, or is beyond a limit.
pub fn parse_block(bytes: &[u8], block_bytes_max: usize) -> Result<Part<'_>, ArchiveError> {
    if bytes.first() == END.first() && begins(bytes, END) {
        return Ok(if bytes.len() < END_BYTES {
            Part::Needs(END_BYTES)
        } else {
            Part::End { bytes: END_BYTES }
        });
    }
    if !begins(bytes, BLOCK) {
        return Err(ArchiveError::BlockMagic);
    }
    let (Some(offset), Some(wanted), Some(flags)) =
        (le64(bytes, 8), le32(bytes, 16), array::<1>(bytes, BLOCK_HEAD_BYTES))
    else {
        return Ok(Part::Needs(BLOCK_HEAD_BYTES + 1));
    };
    let head_end = BLOCK_HEAD_BYTES + quicklz::head_bytes(flags[0]);
    let Some(head) = bytes.get(BLOCK_HEAD_BYTES..head_end) else { return Ok(Part::Needs(head_end)) };
    let sizes = quicklz::sizes(head)?;
    if sizes.plain_bytes > block_bytes_max {
        return Err(ArchiveError::Block { found: sizes.plain_bytes as u64, most: block_bytes_max });
    }
    // What cannot be compressed is stored: a packet is hardly longer than what is in it.
    let most = block_bytes_max + quicklz::HEAD_BYTES_MAX;
    if sizes.packet_bytes > most {
        return Err(ArchiveError::Block { found: sizes.packet_bytes as u64, most });
    }
    let end = BLOCK_HEAD_BYTES + sizes.packet_bytes;
    let Some(packet) = bytes.get(BLOCK_HEAD_BYTES..end) else { return Ok(Part::Needs(end)) };
    let found = simd_adler32::adler32(&packet);
    if found != wanted {
        return Err(ArchiveError::Adler { found, wanted });
    }
    Ok(Part::Block { offset, plain_bytes: sizes.plain_bytes, packet, bytes: end })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored_block(offset: u64, plain: &[u8]) -> Vec<u8> {
        let size = u32::try_from(plain.len()).unwrap();
        let packet = [&[0x46][..], &(size + 9).to_le_bytes(), &size.to_le_bytes(), plain].concat();
        let adler = simd_adler32::adler32(&&packet[..]);
        [&BLOCK[..], &offset.to_le_bytes(), &adler.to_le_bytes(), &packet].concat()
    }

    proptest! {
        #[test]
        fn a_stored_block_is_read_and_no_part_of_it_is_taken_for_it(
            offset: u64, plain in proptest::collection::vec(any::<u8>(), 1..300), flip: usize,
        ) {
            let bytes = stored_block(offset, &plain);
            let Part::Block { offset: read, plain_bytes, packet, bytes: used } = parse_block(&bytes, 300).unwrap()
                else { panic!() };
            prop_assert_eq!((read, plain_bytes, used), (offset, plain.len(), bytes.len()));
            let mut out = vec![];
            quicklz::decompress(packet, &mut quicklz::Table::default(), &mut out).unwrap();
            prop_assert_eq!(&out, &plain);
            for end in 0..bytes.len() {
                let Part::Needs(more) = parse_block(&bytes[..end], 300).unwrap() else { panic!("{}", end) };
                prop_assert!(more > end && more <= bytes.len());
            }
            let mut other = bytes;
            let at = BLOCK_HEAD_BYTES + 9 + flip % plain.len();
            other[at] ^= 1;
            let is_found = matches!(parse_block(&other, 300), Err(ArchiveError::Adler { .. }));
            prop_assert!(is_found);
            let is_refused = matches!(parse_block(&other, plain.len() - 1), Err(ArchiveError::Block { .. }));
            prop_assert!(is_refused);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_file(&bytes);
            let _ = parse_file(&[&MAGIC[..], &bytes].concat());
            let _ = parse_block(&[&BLOCK[..], &bytes].concat(), 4096);
            let _ = parse_block(&[&END[..], &bytes].concat(), 4096);
        }
    }

    #[test]
    fn what_is_beyond_a_limit_is_refused() {
        let file = |largest: u64, kind: u8, name: u32| {
            [&MAGIC[..], &largest.to_le_bytes(), &[kind], &name.to_le_bytes(), b"abc\0"].concat()
        };
        let taken = Ok(Part::File { block_bytes_max: 65536, bytes: 25 });
        assert_eq!(parse_file(&file(65536, b'F', 3)), taken);
        assert_eq!(parse_file(&file(u64::MAX, b'F', 3)), Err(ArchiveError::Blocks(u64::MAX)));
        assert_eq!(parse_file(&file(65536, b'D', 3)), Err(ArchiveError::NoFile));
        assert_eq!(parse_file(&file(65536, b'F', u32::MAX)), Err(ArchiveError::Name(u32::MAX)));
    }
}

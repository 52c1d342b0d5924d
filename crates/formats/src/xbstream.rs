//! Chunks of the stream that mariabackup (`--stream=xbstream`, read by mbstream) and XtraBackup write. All numbers
//! are little-endian.
//!
//! ```text
//! magic "XBSTCK01" | flags u8 (0x01: may be skipped by who does not know the type) | type u8 | path length u32 | path
//! type E (end of a file) stops here
//! type S (sparse): number of map entries u32
//! types P (payload) and S: payload length u64 | offset in the file u64 | CRC-32 u32 (of the map and the payload)
//! type S: map entries, each: bytes to skip u32, bytes to write u32
//! payload
//! ```
//! The stream itself has no end: whoever reads it must ask for an E for each path.
//!
//! Sources: `xbstream.h` and `xbstream_read.cc` of both tools; seen in streams of mariabackup 10.11.19.

use crate::bytes::{array, le32, le64};

const MAGIC: &[u8; 8] = b"XBSTCK01";
const FIXED_BYTES: usize = 8 + 1 + 1 + 4;
/// Source: `FN_REFLEN` of both servers, which the tools refuse to exceed.
pub const PATH_BYTES_MAX: usize = 512;
/// Tools write chunks of 10 MiB; a buffer that is larger than that becomes one chunk, and nobody sets such a buffer
/// to more.
pub const PAYLOAD_BYTES_MAX: u64 = 64 << 20;
/// A payload of 10 MiB with a hole behind each block of 512 bytes has fewer.
pub const SPARSE_ENTRIES_MAX: u32 = 1 << 16;
const SPARSE_ENTRY_BYTES: usize = 8;
const IGNORABLE: u8 = 0x01;
/// Enough for each header that is within the limits.
pub const HEAD_BYTES_MAX: usize = FIXED_BYTES + PATH_BYTES_MAX + 4 + 20;
/// What the tools write in one chunk. Source: `XB_STREAM_MIN_CHUNK_SIZE`.
pub const WRITTEN_BYTES: usize = 10 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Payload,
    Sparse,
    End,
    /// Of a later version, and marked as one that may be skipped.
    Ignorable(u8),
}

/// What stands before the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub kind: Kind,
    /// As it was written: nobody has looked where it leads.
    pub path: Vec<u8>,
    pub payload_bytes: usize,
    pub offset: u64,
    pub crc32: u32,
    pub sparse_entries: usize,
}

impl Head {
    /// The sparse map and the payload: what follows the header.
    pub fn body_bytes(&self) -> usize {
        // Both are within their limits.
        self.sparse_entries * SPARSE_ENTRY_BYTES + self.payload_bytes
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Too few bytes: with this many, from the beginning of the chunk, more can be said.
    Needs(usize),
    Head {
        head: Head,
        /// Of the header.
        bytes: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    #[error("no chunk begins there (it would begin with XBSTCK01)")]
    Magic,
    #[error("a path has {0} bytes; none has more than {PATH_BYTES_MAX}, and none is empty")]
    Path(u32),
    #[error("a chunk is of the unknown type 0x{0:02x}, and must not be skipped")]
    Type(u8),
    #[error("a chunk has {0} bytes of payload; no tool writes more than {PAYLOAD_BYTES_MAX}")]
    Payload(u64),
    #[error("a sparse map has {0} entries; none has more than {SPARSE_ENTRIES_MAX}")]
    SparseEntries(u32),
    #[error(
        "the CRC-32 of a chunk is 0x{found:08x}, and should be 0x{wanted:08x}: its bytes were changed or lost"
    )]
    Crc { found: u32, wanted: u32 },
    #[error("a sparse map speaks of {mapped} bytes, and the payload has {payload}")]
    SparseMap { mapped: u64, payload: usize },
    #[error("a chunk is cut short")]
    Cut,
}

/// The header at the beginning of `bytes`.
///
/// # Errors
/// It is none, or is beyond a limit: nothing that follows can be read.
pub fn parse(bytes: &[u8]) -> Result<Parsed, ChunkError> {
    let seen = bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default();
    if !MAGIC.starts_with(seen) {
        return Err(ChunkError::Magic);
    }
    let (Some([flags, type_byte]), Some(path_bytes)) = (array::<2>(bytes, 8), le32(bytes, 10)) else {
        return Ok(Parsed::Needs(FIXED_BYTES));
    };
    let kind = match type_byte {
        b'P' => Kind::Payload,
        b'S' => Kind::Sparse,
        b'E' => Kind::End,
        other if flags & IGNORABLE != 0 => Kind::Ignorable(other),
        other => return Err(ChunkError::Type(other)),
    };
    let length = usize::try_from(path_bytes).unwrap_or(usize::MAX);
    if length == 0 || length > PATH_BYTES_MAX {
        return Err(ChunkError::Path(path_bytes));
    }
    let mut at = FIXED_BYTES + length;
    let Some(path) = bytes.get(FIXED_BYTES..at) else { return Ok(Parsed::Needs(at)) };
    let mut head =
        Head { kind, path: path.to_vec(), payload_bytes: 0, offset: 0, crc32: 0, sparse_entries: 0 };
    if kind == Kind::End {
        return Ok(Parsed::Head { head, bytes: at });
    }
    if kind == Kind::Sparse {
        let Some(entries) = le32(bytes, at) else { return Ok(Parsed::Needs(at + 4)) };
        if entries > SPARSE_ENTRIES_MAX {
            return Err(ChunkError::SparseEntries(entries));
        }
        head.sparse_entries = usize::try_from(entries).unwrap_or(usize::MAX);
        at += 4;
    }
    let (Some(payload_bytes), Some(offset), Some(crc32)) =
        (le64(bytes, at), le64(bytes, at + 8), le32(bytes, at + 16))
    else {
        return Ok(Parsed::Needs(at + 20));
    };
    if payload_bytes > PAYLOAD_BYTES_MAX {
        return Err(ChunkError::Payload(payload_bytes));
    }
    head.payload_bytes = usize::try_from(payload_bytes).unwrap_or(usize::MAX);
    (head.offset, head.crc32) = (offset, crc32);
    Ok(Parsed::Head { head, bytes: at + 20 })
}

/// One run of a file: a hole, then bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub skip_bytes: u32,
    pub write_bytes: u32,
}

/// What a chunk says, once its checksum was found right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body<'b> {
    /// Of a sparse chunk; together they write what the payload has.
    pub runs: Vec<Run>,
    pub payload: &'b [u8],
}

/// The bytes behind a header.
///
/// # Errors
/// They are not as many as it says, not those that were written, or a map that does not fit.
pub fn check<'b>(head: &Head, body: &'b [u8]) -> Result<Body<'b>, ChunkError> {
    if body.len() != head.body_bytes() {
        return Err(ChunkError::Cut);
    }
    let (map, payload) = body.split_at_checked(body.len() - head.payload_bytes).ok_or(ChunkError::Cut)?;
    if head.kind == Kind::End {
        return Ok(Body { runs: Vec::new(), payload });
    }
    let found = crc32fast::hash(body);
    if found != head.crc32 {
        return Err(ChunkError::Crc { found, wanted: head.crc32 });
    }
    let (entries, _) = map.as_chunks::<SPARSE_ENTRY_BYTES>();
    let runs: Vec<Run> = entries
        .iter()
        .map(|entry| Run {
            skip_bytes: le32(entry, 0).unwrap_or_default(),
            write_bytes: le32(entry, 4).unwrap_or_default(),
        })
        .collect();
    let mapped = runs.iter().map(|run| u64::from(run.write_bytes)).sum();
    if head.kind == Kind::Sparse && mapped != payload.len() as u64 {
        return Err(ChunkError::SparseMap { mapped, payload: payload.len() });
    }
    Ok(Body { runs, payload })
}

fn begin(out: &mut Vec<u8>, type_byte: u8, path: &[u8]) {
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[0, type_byte]);
    // A longer one was refused by whoever names files.
    out.extend_from_slice(&u32::try_from(path.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(path);
}

/// The header of a chunk of bytes, which follow it.
pub fn write_payload_head(out: &mut Vec<u8>, path: &[u8], offset: u64, payload: &[u8]) {
    begin(out, b'P', path);
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
}

pub fn write_end(out: &mut Vec<u8>, path: &[u8]) {
    begin(out, b'E', path);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sparse(path: &[u8], runs: &[(u32, u32)], payload: &[u8]) -> Vec<u8> {
        let mut map = vec![];
        for (skip, write) in runs {
            map.extend(skip.to_le_bytes());
            map.extend(write.to_le_bytes());
        }
        map.extend(payload);
        let mut out = vec![];
        begin(&mut out, b'S', path);
        out.extend(u32::try_from(runs.len()).unwrap().to_le_bytes());
        out.extend((payload.len() as u64).to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend(crc32fast::hash(&map).to_le_bytes());
        out.extend(map);
        out
    }

    fn whole(bytes: &[u8]) -> (Head, &[u8]) {
        let Parsed::Head { head, bytes: used } = parse(bytes).unwrap() else { panic!("cut") };
        (head, &bytes[used..])
    }

    #[test]
    fn a_sparse_chunk_has_its_map_checked() {
        let bytes = sparse(b"a", &[(4096, 2), (0, 1)], b"abc");
        let (head, body) = whole(&bytes);
        let read = check(&head, body).unwrap();
        assert_eq!(read.payload, b"abc");
        assert_eq!(read.runs[0], Run { skip_bytes: 4096, write_bytes: 2 });
        let bytes = sparse(b"a", &[(4096, 2)], b"abc");
        let (head, body) = whole(&bytes);
        assert_eq!(check(&head, body), Err(ChunkError::SparseMap { mapped: 2, payload: 3 }));
    }

    #[test]
    fn what_is_beyond_a_limit_is_refused_before_its_bytes_come() {
        let mut bytes = vec![];
        write_payload_head(&mut bytes, b"a", 0, b"");
        let with = |at: usize, new: &[u8]| {
            let mut changed = bytes.clone();
            changed[at..at + new.len()].copy_from_slice(new);
            parse(&changed)
        };
        assert_eq!(with(0, b"Y"), Err(ChunkError::Magic));
        assert_eq!(with(9, b"X"), Err(ChunkError::Type(b'X')));
        assert_eq!(with(10, &[0; 4]), Err(ChunkError::Path(0)));
        assert_eq!(with(10, &[0xff; 4]), Err(ChunkError::Path(u32::MAX)));
        assert_eq!(with(15, &[0xff; 8]), Err(ChunkError::Payload(u64::MAX)));
        let bytes = [&sparse(b"a", &[], b"")[..15], &[0xff; 24]].concat();
        assert_eq!(parse(&bytes), Err(ChunkError::SparseEntries(u32::MAX)));
        let mut skipped = vec![];
        write_payload_head(&mut skipped, b"a", 0, b"xy");
        (skipped[8], skipped[9]) = (IGNORABLE, b'Z');
        assert_eq!(whole(&skipped).0.kind, Kind::Ignorable(b'Z'));
    }

    proptest! {
        #[test]
        fn a_chunk_is_read_as_it_was_written_and_no_part_of_it_is_taken_for_it(
            path in "[a-z./]{1,30}", offset: u64, payload in proptest::collection::vec(any::<u8>(), 1..99), flip: usize,
        ) {
            let mut bytes = vec![];
            write_payload_head(&mut bytes, path.as_bytes(), offset, &payload);
            for end in 0..bytes.len() {
                let Parsed::Needs(more) = parse(&bytes[..end]).unwrap() else { panic!("{end}") };
                prop_assert!(more > end && more <= bytes.len());
            }
            let (head, rest) = whole(&bytes);
            prop_assert!(rest.is_empty());
            prop_assert_eq!(&head.path, path.as_bytes());
            prop_assert_eq!(head.offset, offset);
            prop_assert_eq!(check(&head, &payload).unwrap().payload, &payload[..]);
            let mut other = payload.clone();
            let at = flip % other.len();
            other[at] ^= 1;
            prop_assert!(check(&head, &other).is_err());
            prop_assert_eq!(check(&head, &payload[1..]), Err(ChunkError::Cut));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), kind in 0u8..4) {
            let start = [&MAGIC[..], &[1, [b'P', b'S', b'E', b'Q'][usize::from(kind)], 3, 0, 0, 0], &bytes].concat();
            if let Ok(Parsed::Head { head, bytes: used }) = parse(&start) {
                let _ = check(&head, &start[used..]);
            }
            let _ = parse(&bytes);
        }
    }
}

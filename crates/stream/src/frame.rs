//! What travels on a connection, once it is encrypted.
//!
//! ```text
//! type u8 | length u32 | body
//! 1 hello        magic "SLSTREAM" | version u16 | session 16 bytes | connection u16 | connections u16 |
//!                content u8 (1 a directory, 2 bytes) | MB/s of each cipher suite, 3 u32 ([`crate::cipher`])
//! 2 entries      entries, one behind the other ([`crate::entry`])
//! 3 entries end  count u64 | bytes of all files u64
//! 4 ready        -
//! 5 data         entry u64 | offset u64 | bytes of that file
//! 6 end          data bytes of this connection u64
//! 7 working      -
//! 8 done         files u64 | data bytes u64
//! 9 failed       UTF-8: why
//! 10 packed      entry u64 | offset u64 | length of the bytes u32 | the bytes, as a frame of Zstandard
//! 11 digest      entry u64 | size u64 | BLAKE3 of that file, 32 bytes
//! 12 have        entry u64 | cell u64 | digests of this cell and of those behind it, 32 bytes each ([`crate::cells`])
//! 13 status      of the receiver's time since the last one, in thousandths u16: waiting for bytes | waiting for the disk
//! 14 same        length u64 of a cell that the receiver has and that is not sent
//! ```
//! All numbers are big-endian; entries count from 0 in the order in which they were announced. A copy of bytes has one entry, which is
//! not announced: 0. What is between the bytes of a file that come, and behind them, is a hole. No bytes reach over the end of a cell.
//!
//! Connection 0 has the list and the receiver's words; files travel on the others. In an archive ([`crate::archive`]) there are
//! 2, 3, 5, 10, 11 and, at its end, 6.

use crate::cells::Digest;
use crate::cipher::Speeds;
use crate::entry::{ENTRY_BYTES_MAX, Entry};

pub const HEADER_BYTES: usize = 5;
/// In front of the bytes of a file.
pub const DATA_HEAD_BYTES: usize = 16;
pub const DATA_BYTES_MAX: usize = 1 << 20;
const ENTRIES_BYTES_MAX: usize = 1 << 16;
const REASON_BYTES_MAX: usize = 4096;
const MAGIC: &[u8; 8] = b"SLSTREAM";
pub const VERSION: u16 = 3;
/// In front of the compressed bytes of a file.
pub const PACKED_HEAD_BYTES: usize = 20;
const HELLO_BYTES: usize = 43;
/// Digests in one frame.
pub const HAVE_MAX: usize = 2000;
pub const FRAME_BYTES_MAX: usize = HEADER_BYTES + PACKED_HEAD_BYTES + DATA_BYTES_MAX;

/// What is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Tree,
    Bytes,
}

impl Content {
    pub fn code(self) -> u8 {
        match self {
            Self::Tree => 1,
            Self::Bytes => 2,
        }
    }

    pub fn of(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Tree),
            2 => Some(Self::Bytes),
            _ => None,
        }
    }
}

/// The first word of a connection, and the answer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    pub session: Session,
    pub connection: u16,
    /// Those that files travel on.
    pub connections: u16,
    pub content: Content,
    pub speeds: Speeds,
}

pub type Session = [u8; 16];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'b> {
    Hello(Hello),
    Entries(Vec<Entry>),
    EntriesEnd { count: u64, size_bytes: u64 },
    Ready,
    Data { entry: u64, offset: u64, bytes: &'b [u8] },
    End { data_bytes: u64 },
    Working,
    Done { files: u64, data_bytes: u64 },
    Failed(String),
    Packed { entry: u64, offset: u64, plain_bytes: usize, packed: &'b [u8] },
    Digest { entry: u64, size_bytes: u64, digest: Digest },
    Have { entry: u64, cell: u64, digests: Vec<Digest> },
    Status { waiting: u16, writing: u16 },
    Same { bytes: u64 },
}

const HELLO: u8 = 1;
const ENTRIES: u8 = 2;
const ENTRIES_END: u8 = 3;
const READY: u8 = 4;
pub const DATA: u8 = 5;
const END: u8 = 6;
const WORKING: u8 = 7;
const DONE: u8 = 8;
const FAILED: u8 = 9;
pub const PACKED: u8 = 10;
const DIGEST: u8 = 11;
const HAVE: u8 = 12;
const STATUS: u8 = 13;
const SAME: u8 = 14;

/// How long the body behind this header is.
///
/// # Errors
/// No frame is of that type, or none of that type is so long.
pub fn body_bytes([kind, a, b, c, d]: [u8; HEADER_BYTES]) -> Result<usize, String> {
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let (least, most) = match kind {
        HELLO => (HELLO_BYTES, HELLO_BYTES),
        ENTRIES => (0, ENTRIES_BYTES_MAX + ENTRY_BYTES_MAX),
        ENTRIES_END | DONE => (16, 16),
        READY | WORKING => (0, 0),
        DATA => (DATA_HEAD_BYTES, DATA_HEAD_BYTES + DATA_BYTES_MAX),
        END | SAME => (8, 8),
        FAILED => (0, REASON_BYTES_MAX),
        // What has become longer is sent as it is.
        PACKED => (PACKED_HEAD_BYTES, PACKED_HEAD_BYTES + DATA_BYTES_MAX),
        DIGEST => (48, 48),
        HAVE => (16, 16 + 32 * HAVE_MAX),
        STATUS => (4, 4),
        other => return Err(format!("a frame is of type {other}")),
    };
    if (least..=most).contains(&length) {
        Ok(length)
    } else {
        Err(format!("a frame of type {kind} has {length} bytes"))
    }
}

/// A whole frame, whose header [`body_bytes`] took.
///
/// # Errors
/// What its body is not.
pub fn parse(kind: u8, body: &[u8]) -> Result<Frame<'_>, String> {
    let short = || format!("a frame of type {kind} is cut short");
    let u64_at = |at: usize| -> Result<u64, String> {
        body.get(at..)
            .and_then(|rest| rest.first_chunk())
            .map(|bytes| u64::from_be_bytes(*bytes))
            .ok_or_else(short)
    };
    let u16_at = |at: usize| -> Result<u16, String> {
        body.get(at..)
            .and_then(|rest| rest.first_chunk())
            .map(|bytes| u16::from_be_bytes(*bytes))
            .ok_or_else(short)
    };
    let u32_at = |at: usize| -> Result<u32, String> {
        body.get(at..)
            .and_then(|rest| rest.first_chunk())
            .map(|bytes| u32::from_be_bytes(*bytes))
            .ok_or_else(short)
    };
    Ok(match kind {
        HELLO => {
            if !body.starts_with(MAGIC) {
                return Err("it is no stream of sealion".into());
            }
            let version = u16_at(8)?;
            if version != VERSION {
                return Err(format!(
                    "it speaks version {version} of the stream, this sealion version {VERSION}"
                ));
            }
            let session = *body.get(10..).and_then(|rest| rest.first_chunk()).ok_or_else(short)?;
            let content = body.get(30).copied().and_then(Content::of);
            let content = content.ok_or("it sends neither a directory nor bytes")?;
            let speeds = Speeds([u32_at(31)?, u32_at(35)?, u32_at(39)?]);
            Frame::Hello(Hello {
                session,
                connection: u16_at(26)?,
                connections: u16_at(28)?,
                content,
                speeds,
            })
        }
        ENTRIES => {
            let (mut all, mut rest) = (Vec::new(), body);
            while !rest.is_empty() {
                let (entry, after) = Entry::parse(rest)?;
                all.push(entry);
                rest = after;
            }
            Frame::Entries(all)
        }
        ENTRIES_END => Frame::EntriesEnd { count: u64_at(0)?, size_bytes: u64_at(8)? },
        READY => Frame::Ready,
        DATA => Frame::Data {
            entry: u64_at(0)?,
            offset: u64_at(8)?,
            bytes: body.get(DATA_HEAD_BYTES..).ok_or_else(short)?,
        },
        END => Frame::End { data_bytes: u64_at(0)? },
        WORKING => Frame::Working,
        DONE => Frame::Done { files: u64_at(0)?, data_bytes: u64_at(8)? },
        FAILED => Frame::Failed(printable(body)),
        PACKED => {
            let plain_bytes = u32_at(16)? as usize;
            if plain_bytes > DATA_BYTES_MAX {
                return Err(format!("a compressed piece has {plain_bytes} bytes"));
            }
            let packed = body.get(PACKED_HEAD_BYTES..).ok_or_else(short)?;
            Frame::Packed { entry: u64_at(0)?, offset: u64_at(8)?, plain_bytes, packed }
        }
        DIGEST => Frame::Digest {
            entry: u64_at(0)?,
            size_bytes: u64_at(8)?,
            digest: *body.get(16..).and_then(|rest| rest.first_chunk()).ok_or_else(short)?,
        },
        HAVE => {
            let (digests, rest) = body.get(16..).ok_or_else(short)?.as_chunks::<32>();
            if !rest.is_empty() {
                return Err(short());
            }
            Frame::Have { entry: u64_at(0)?, cell: u64_at(8)?, digests: digests.to_vec() }
        }
        SAME => Frame::Same { bytes: u64_at(0)? },
        STATUS => Frame::Status { waiting: u16_at(0)?, writing: u16_at(2)? },
        other => return Err(format!("a frame is of type {other}")),
    })
}

/// What the other end says is shown to a person.
fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text)
        .chars()
        .map(|one| if one.is_control() && one != '\n' { '?' } else { one })
        .collect()
}

/// The header and the head of a [`Frame::Data`] with so many bytes, to be put in front of them.
pub fn data_head(entry: u64, offset: u64, bytes: usize) -> [u8; HEADER_BYTES + DATA_HEAD_BYTES] {
    let mut head = [0; HEADER_BYTES + DATA_HEAD_BYTES];
    // DATA_BYTES_MAX fits.
    let length = u32::try_from(DATA_HEAD_BYTES + bytes).unwrap_or(u32::MAX).to_be_bytes();
    let parts = [&[DATA][..], &length, &entry.to_be_bytes(), &offset.to_be_bytes()];
    for (to, from) in head.iter_mut().zip(parts.into_iter().flatten()) {
        *to = *from;
    }
    head
}

/// The header and the head of a [`Frame::Packed`].
pub fn packed_head(
    entry: u64,
    offset: u64,
    plain_bytes: usize,
    packed_bytes: usize,
) -> [u8; HEADER_BYTES + PACKED_HEAD_BYTES] {
    let mut head = [0; HEADER_BYTES + PACKED_HEAD_BYTES];
    let short = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    let length = short(PACKED_HEAD_BYTES + packed_bytes);
    let parts = [&[PACKED][..], &length, &entry.to_be_bytes(), &offset.to_be_bytes(), &short(plain_bytes)];
    for (to, from) in head.iter_mut().zip(parts.into_iter().flatten()) {
        *to = *from;
    }
    head
}

/// Any frame. Data is better written behind [`data_head`], without a copy.
pub fn encode(frame: &Frame<'_>) -> Vec<u8> {
    let numbers =
        |kind: u8, all: &[u64]| (kind, all.iter().flat_map(|one| one.to_be_bytes()).collect::<Vec<u8>>());
    let (kind, body) = match frame {
        Frame::Hello(hello) => {
            let [a, b, c] = hello.speeds.0.map(u32::to_be_bytes);
            let body = [
                &MAGIC[..],
                &VERSION.to_be_bytes(),
                &hello.session,
                &hello.connection.to_be_bytes(),
                &hello.connections.to_be_bytes(),
                &[hello.content.code()],
                &a,
                &b,
                &c,
            ];
            (HELLO, body.concat())
        }
        Frame::Packed { entry, offset, plain_bytes, packed } => {
            let head = packed_head(*entry, *offset, *plain_bytes, packed.len());
            return [&head[..], packed].concat();
        }
        Frame::Digest { entry, size_bytes, digest } => {
            (DIGEST, [&entry.to_be_bytes()[..], &size_bytes.to_be_bytes(), digest].concat())
        }
        Frame::Have { entry, cell, digests } => {
            (HAVE, [&entry.to_be_bytes()[..], &cell.to_be_bytes(), digests.as_flattened()].concat())
        }
        Frame::Same { bytes } => numbers(SAME, &[*bytes]),
        Frame::Status { waiting, writing } => {
            (STATUS, [waiting.to_be_bytes(), writing.to_be_bytes()].concat())
        }
        Frame::Entries(all) => {
            let mut body = Vec::new();
            for entry in all {
                entry.encode(&mut body);
            }
            (ENTRIES, body)
        }
        Frame::EntriesEnd { count, size_bytes } => numbers(ENTRIES_END, &[*count, *size_bytes]),
        Frame::Ready => (READY, vec![]),
        Frame::Data { entry, offset, bytes } => {
            (DATA, [&entry.to_be_bytes()[..], &offset.to_be_bytes(), bytes].concat())
        }
        Frame::End { data_bytes } => numbers(END, &[*data_bytes]),
        Frame::Working => (WORKING, vec![]),
        Frame::Done { files, data_bytes } => numbers(DONE, &[*files, *data_bytes]),
        Frame::Failed(why) => {
            let mut end = why.len().min(REASON_BYTES_MAX);
            while !why.is_char_boundary(end) {
                end -= 1;
            }
            (FAILED, why.as_bytes().get(..end).unwrap_or_default().to_vec())
        }
    };
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    [&[kind][..], &length.to_be_bytes(), &body].concat()
}

/// Entries in frames that are not too long.
pub fn encode_entries(
    entries: &[Entry],
    mut each: impl FnMut(Vec<u8>) -> Result<(), crate::StreamError>,
) -> Result<(), crate::StreamError> {
    let mut body = Vec::new();
    let framed = |body: &[u8]| {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        [&[ENTRIES][..], &length.to_be_bytes(), body].concat()
    };
    for entry in entries {
        entry.encode(&mut body);
        if body.len() >= ENTRIES_BYTES_MAX {
            each(framed(&body))?;
            body.clear();
        }
    }
    if body.is_empty() { Ok(()) } else { each(framed(&body)) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    const HELLO_OF_TESTS: Hello = Hello {
        session: [7; 16],
        connection: 3,
        connections: 4,
        content: Content::Bytes,
        speeds: Speeds([1, 2, u32::MAX]),
    };

    fn read(bytes: &[u8]) -> Result<Frame<'_>, String> {
        let (header, body) = bytes.split_first_chunk().ok_or("short")?;
        let length = body_bytes(*header)?;
        parse(header[0], body.get(..length).ok_or("short")?)
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        for frame in [
            Frame::Hello(HELLO_OF_TESTS),
            Frame::Packed { entry: 5, offset: 1 << 40, plain_bytes: 1 << 20, packed: b"packed" },
            Frame::Digest { entry: 5, size_bytes: 6, digest: [7; 32] },
            Frame::Have { entry: 5, cell: 6, digests: vec![[7; 32], [8; 32]] },
            Frame::Status { waiting: 1000, writing: 7 },
            Frame::Same { bytes: 8 << 20 },
            Frame::Entries(vec![]),
            Frame::EntriesEnd { count: 1, size_bytes: u64::MAX },
            Frame::Ready,
            Frame::Data { entry: 5, offset: 1 << 40, bytes: b"bytes" },
            Frame::End { data_bytes: 6 },
            Frame::Working,
            Frame::Done { files: 8, data_bytes: 9 },
            Frame::Failed("the disk is full".into()),
        ] {
            assert_eq!(read(&encode(&frame)), Ok(frame));
        }
        let head = data_head(5, 1 << 40, 5);
        assert_eq!(
            [&head[..], b"bytes"].concat(),
            encode(&Frame::Data { entry: 5, offset: 1 << 40, bytes: b"bytes" })
        );
        let long = encode(&Frame::Failed("ü".repeat(5000)));
        assert!(matches!(read(&long), Ok(Frame::Failed(why)) if why.chars().all(|one| one == 'ü')));
    }

    #[test]
    fn what_is_too_long_or_of_another_version_is_refused_before_it_is_read() {
        assert!(body_bytes([DATA, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(body_bytes([READY, 0, 0, 0, 1]).is_err());
        assert!(body_bytes([0, 0, 0, 0, 0]).is_err() && body_bytes([15, 0, 0, 0, 0]).is_err());
        let mut hello = encode(&Frame::Hello(HELLO_OF_TESTS));
        hello[HEADER_BYTES + 9] = 1;
        assert!(read(&hello).unwrap_err().contains("version 1"));
        let mut large = encode(&Frame::Packed { entry: 0, offset: 0, plain_bytes: 0, packed: b"" });
        large[HEADER_BYTES + 16] = 1;
        assert!(read(&large).unwrap_err().contains("a compressed piece has"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(kind: u8, body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(kind, &body);
        }
    }
}

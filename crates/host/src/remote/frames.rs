//! Frames between sealion and its agent, sans-I/O: bytes in, messages out.
//!
//! A frame is two lengths (big-endian u32), a header in JSON and a payload of raw bytes, which is what a file holds and what passes
//! through a stream. In front of the first one the agent writes [`PREAMBLE`]: login shells print things of their own before.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use zeroize::Zeroizing;

use super::messages::Message;

/// Both sides speak this version, or do not speak.
pub const PROTOCOL: u32 = 8;
pub const PREAMBLE: &[u8] = b"\0sealion-agent\0";
/// What a login shell may print before the preamble.
pub const CHATTER_BYTES_MAX: usize = 64 * 1024;
pub const HEADER_BYTES_MAX: usize = 1 << 20;
pub const PAYLOAD_BYTES_MAX: usize = 64 << 20;
const LENGTHS_BYTES: usize = 8;
const USUAL_BYTES: usize = 256 * 1024;

/// One message with its payload. Payloads may be private keys: they are wiped when dropped.
#[derive(Debug)]
pub struct Frame {
    pub message: Message,
    pub payload: Zeroizing<Vec<u8>>,
}

impl Frame {
    pub fn new(message: Message) -> Self {
        Self::with_payload(message, Vec::new())
    }

    pub fn with_payload(message: Message, payload: Vec<u8>) -> Self {
        Self { message, payload: Zeroizing::new(payload) }
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    #[error("{0} bytes of something else came before the agent's first word")]
    NoPreamble(usize),
    #[error("a header of {0} bytes (at most {HEADER_BYTES_MAX})")]
    HeaderTooLong(usize),
    #[error("a payload of {0} bytes (at most {PAYLOAD_BYTES_MAX})")]
    PayloadTooLong(usize),
    #[error("a header that is not understood: {0}")]
    NotUnderstood(String),
}

/// # Errors
/// The message or its payload is larger than a frame may be.
pub fn encode(frame: &Frame) -> Result<Zeroizing<Vec<u8>>, FrameError> {
    let header =
        serde_json::to_vec(&frame.message).map_err(|error| FrameError::NotUnderstood(error.to_string()))?;
    let lengths = [
        length(header.len(), HEADER_BYTES_MAX).ok_or(FrameError::HeaderTooLong(header.len()))?,
        length(frame.payload.len(), PAYLOAD_BYTES_MAX)
            .ok_or(FrameError::PayloadTooLong(frame.payload.len()))?,
    ];
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTHS_BYTES + header.len() + frame.payload.len()));
    for length in lengths {
        bytes.extend_from_slice(&length.to_be_bytes());
    }
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&frame.payload);
    Ok(bytes)
}

fn length(bytes: usize, bytes_max: usize) -> Option<u32> {
    (bytes <= bytes_max).then(|| u32::try_from(bytes).ok())?
}

/// Puts frames together from pieces of any size.
#[derive(Debug)]
pub struct FrameReader {
    bytes: Zeroizing<Vec<u8>>,
    has_begun: bool,
}

impl FrameReader {
    /// For the side that reads what an agent writes.
    pub fn behind_preamble() -> Self {
        // Room for what is asked every day: growing would leave the old bytes behind.
        Self { bytes: Zeroizing::new(Vec::with_capacity(USUAL_BYTES)), has_begun: false }
    }

    /// For the agent: whoever started it says nothing else.
    pub fn at_once() -> Self {
        Self { has_begun: true, ..Self::behind_preamble() }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What came that was no frame yet: before the preamble, what a shell or sshd has to say.
    pub fn pending(&self) -> &[u8] {
        &self.bytes
    }

    /// # Errors
    /// What came is no frame. Nothing behind it can be read either.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if !self.has_begun {
            // The same, whatever the pieces are that it comes in.
            let so_far = self.bytes.len();
            let at = match memchr::memmem::find(&self.bytes, PREAMBLE) {
                Some(at) if at <= CHATTER_BYTES_MAX => at,
                None if so_far < CHATTER_BYTES_MAX + PREAMBLE.len() => return Ok(None),
                _ => return Err(FrameError::NoPreamble(so_far)),
            };
            self.drop_front(at + PREAMBLE.len());
            self.has_begun = true;
        }
        let Some(lengths) = self.bytes.first_chunk::<LENGTHS_BYTES>() else { return Ok(None) };
        // The header's length is the upper half.
        let both = u64::from_be_bytes(*lengths);
        let [header, payload] = [both >> 32, both & u64::from(u32::MAX)]
            .map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if header > HEADER_BYTES_MAX {
            return Err(FrameError::HeaderTooLong(header));
        }
        if payload > PAYLOAD_BYTES_MAX {
            return Err(FrameError::PayloadTooLong(payload));
        }
        let (from, to) = (LENGTHS_BYTES + header, LENGTHS_BYTES + header + payload);
        let (Some(text), Some(raw)) = (self.bytes.get(LENGTHS_BYTES..from), self.bytes.get(from..to)) else {
            return Ok(None);
        };
        let message =
            serde_json::from_slice(text).map_err(|error| FrameError::NotUnderstood(error.to_string()))?;
        let frame = Frame::with_payload(message, raw.to_vec());
        self.drop_front(to);
        Ok(Some(frame))
    }

    fn drop_front(&mut self, count: usize) {
        let count = count.min(self.bytes.len());
        self.bytes.drain(..count);
    }
}

/// As a header's field; a name of a file need not be text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarPath(pub std::path::PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelling {
    Text(String),
    Bytes { hex: String },
}

impl Serialize for FarPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use std::os::unix::ffi::OsStrExt;
        let spelling = self.0.to_str().map_or_else(
            || {
                const DIGITS: [char; 16] =
                    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
                let bytes = self.0.as_os_str().as_bytes().iter();
                let digits = bytes.flat_map(|byte| [byte >> 4, byte & 15]).map(usize::from);
                Spelling::Bytes { hex: digits.filter_map(|digit| DIGITS.get(digit)).collect() }
            },
            |text| Spelling::Text(text.to_owned()),
        );
        spelling.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FarPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use std::os::unix::ffi::OsStringExt;
        let bytes = match Spelling::deserialize(deserializer)? {
            Spelling::Text(text) => return Ok(Self(text.into())),
            Spelling::Bytes { hex } => hex
                .as_bytes()
                .chunks(2)
                .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
                .collect::<Option<Vec<u8>>>(),
        };
        let bytes = bytes.ok_or_else(|| serde::de::Error::custom("a path in hex that is none"))?;
        Ok(Self(std::ffi::OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;
    use crate::remote::messages::Request;

    fn call(id: u64, path: &[u8]) -> Message {
        let path = FarPath(std::ffi::OsString::from_vec(path.to_vec()).into());
        Message::Call { id, request: Request::Read { path, bytes_max: 7 } }
    }

    #[test]
    fn what_a_shell_prints_first_is_passed_over_and_more_than_it_may_print_is_an_error() {
        let mut reader = FrameReader::behind_preamble();
        reader.push(b"Welcome to db1\n\0sealion");
        assert!(reader.next_frame().expect("not yet").is_none() && !reader.has_begun());
        reader.push(b"-agent\0");
        reader.push(&encode(&Frame::new(call(1, b"/etc/my.cnf"))).expect("small"));
        assert_eq!(reader.next_frame().expect("a frame").expect("whole").message, call(1, b"/etc/my.cnf"));
        let mut reader = FrameReader::behind_preamble();
        reader.push(&vec![b'x'; CHATTER_BYTES_MAX + 1]);
        assert!(reader.next_frame().expect("it may begin here").is_none());
        reader.push(PREAMBLE);
        assert!(matches!(reader.next_frame(), Err(FrameError::NoPreamble(_))));
    }

    #[test]
    fn lengths_that_no_frame_has_are_refused_before_anything_is_kept() {
        let check = |header: u32, payload: u32| {
            let mut reader = FrameReader::at_once();
            reader.push(&header.to_be_bytes());
            reader.push(&payload.to_be_bytes());
            reader.next_frame().expect_err("too long")
        };
        assert_eq!(check(u32::MAX, 0), FrameError::HeaderTooLong(u32::MAX as usize));
        assert_eq!(check(2, u32::MAX), FrameError::PayloadTooLong(u32::MAX as usize));
        let mut reader = FrameReader::at_once();
        reader.push(&[0, 0, 0, 2, 0, 0, 0, 0, b'{', b'}']);
        assert!(matches!(reader.next_frame(), Err(FrameError::NotUnderstood(_))));
    }

    proptest! {
        #[test]
        fn frames_are_the_same_however_they_are_cut(
            path in proptest::collection::vec(1u8.., 0..40),
            payload in proptest::collection::vec(any::<u8>(), 0..300),
            cuts in proptest::collection::vec(1usize..50, 1..40),
        ) {
            let mut all = Vec::new();
            for id in 0..3 {
                let frame = Frame::with_payload(call(id, &path), payload.clone());
                all.extend_from_slice(&encode(&frame).expect("small"));
            }
            let mut reader = FrameReader::at_once();
            let (mut seen, mut rest, mut cuts) = (Vec::new(), &all[..], cuts.into_iter().cycle());
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                reader.push(piece);
                rest = behind;
                while let Some(frame) = reader.next_frame().expect("sound") {
                    seen.push(frame);
                }
            }
            prop_assert_eq!(seen.len(), 3);
            for (id, frame) in (0..3).zip(&seen) {
                prop_assert_eq!(&frame.message, &call(id, &path));
                prop_assert_eq!(&*frame.payload, &payload);
            }
        }

        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            for mut reader in [FrameReader::at_once(), FrameReader::behind_preamble()] {
                reader.push(&bytes);
                while let Ok(Some(_)) = reader.next_frame() {}
            }
        }
    }
}

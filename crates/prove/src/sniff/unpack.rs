//! The compressed protocol: it hides nothing from whoever can inflate.
//!
//! Source: MySQL source documentation, "Compressed Packet": 3 bytes of length, a sequence number, 3 bytes of length before
//! compression (zero: not compressed), then zlib or, since MySQL 8.0.18 and where both ends say so, one frame of zstd.

use std::io::Read;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

const HEADER_BYTES: usize = 7;
/// Window of zlib, and so the smallest ring to inflate into.
const WINDOW_BYTES: usize = 32 << 10;
/// Compressed packets that are not whole yet, over all connections together.
const HELD_BYTES_MAX: usize = 16 << 20;

/// A packet holds at most 2^24 - 1 bytes, so a frame of an honest peer needs no larger window.
const ZSTD_WINDOW_BYTES_MAX: u64 = 16 << 20;
/// Given on at once.
const ZSTD_PIECE_BYTES: usize = 32 << 10;

/// How packets are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    Zlib,
    Zstd,
}

/// How the packet at the beginning of a segment is compressed, if it is one that ends with the segment.
pub fn looks_packed(segment: &[u8]) -> Option<Method> {
    let ([p0, p1, p2, sequence, u0, u1, u2], body) = segment.split_first_chunk::<HEADER_BYTES>()?;
    let packed_bytes = u32::from_le_bytes([*p0, *p1, *p2, 0]);
    let unpacked_bytes = u32::from_le_bytes([*u0, *u1, *u2, 0]);
    if packed_bytes as usize != body.len() {
        return None;
    }
    match body {
        [0x28, 0xb5, 0x2f, 0xfd, ..] if unpacked_bytes >= packed_bytes => Some(Method::Zstd),
        // Source: RFC 1950 section 2.2: method 8 with a window of 32 KiB at most; the two bytes divide by 31.
        [how, flags, ..] if unpacked_bytes >= packed_bytes => {
            let is_zlib = how & 0x0f == 8 && how >> 4 <= 7 && u16::from_be_bytes([*how, *flags]) % 31 == 0;
            is_zlib.then_some(Method::Zlib)
        }
        // Too short to be worth it: one packet as it is. Which method the others have, its own does not tell.
        [l0, l1, l2, inner, ..] if unpacked_bytes == 0 && inner == sequence => {
            let length = u32::from_le_bytes([*l0, *l1, *l2, 0]) as usize;
            (length + 4 == body.len()).then_some(Method::Zlib)
        }
        _ => None,
    }
}

/// One inflater for all connections: a packet is inflated when it is whole.
pub struct Inflater {
    state: Box<DecompressorOxide>,
    window: Vec<u8>,
    /// Made when the first connection needs it.
    zstd: Option<Box<FrameDecoder>>,
    held_bytes: usize,
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflater").field("held_bytes", &self.held_bytes).finish_non_exhaustive()
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Self { state: Box::default(), window: vec![0; WINDOW_BYTES], zstd: None, held_bytes: 0 }
    }
}

impl Inflater {
    /// Gives what `packed` holds, in pieces, and no more than `announced_bytes`; `false`: it was not what it claimed to be.
    fn open(
        &mut self,
        method: Method,
        packed: &[u8],
        announced_bytes: usize,
        out: &mut dyn FnMut(&[u8]),
    ) -> bool {
        // Joined in the middle, the method may be a guess; a frame of zstd is none of zlib.
        let is_zstd = packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        match method {
            Method::Zlib if is_zstd => self.unzstd(packed, announced_bytes, out),
            Method::Zlib => self.inflate(packed, announced_bytes, out),
            Method::Zstd => self.unzstd(packed, announced_bytes, out),
        }
    }

    fn unzstd(&mut self, packed: &[u8], announced_bytes: usize, out: &mut dyn FnMut(&[u8])) -> bool {
        let decoder = self.zstd.get_or_insert_with(|| {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
            Box::new(decoder)
        });
        let Ok(stream) = StreamingDecoder::new_with_decoder(packed, decoder.as_mut()) else { return false };
        // One byte more than was announced is read, to see that it lies.
        let mut stream = stream.take(announced_bytes as u64 + 1);
        let (mut piece, mut left) = (vec![0; ZSTD_PIECE_BYTES.min(announced_bytes + 1)], announced_bytes);
        loop {
            match stream.read(&mut piece) {
                Ok(0) => return left == 0,
                Ok(count) => {
                    let is_more = count > left;
                    let given = count.min(left);
                    out(piece.get(..given).unwrap_or_default());
                    left -= given;
                    if is_more {
                        return false;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    fn inflate(&mut self, mut packed: &[u8], announced_bytes: usize, out: &mut dyn FnMut(&[u8])) -> bool {
        self.state.init();
        let (mut at, mut left) = (0, announced_bytes);
        loop {
            let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER;
            let (status, used, written) = decompress(&mut self.state, packed, &mut self.window, at, flags);
            packed = packed.get(used..).unwrap_or_default();
            let piece = self.window.get(at..at + written).unwrap_or_default();
            // A length that lies may not make us inflate without end.
            let piece = piece.get(..left).unwrap_or(piece);
            left -= piece.len();
            if !piece.is_empty() {
                out(piece);
            }
            at = (at + written) % WINDOW_BYTES;
            match status {
                TINFLStatus::Done => return left == 0,
                TINFLStatus::HasMoreOutput if left > 0 => {}
                _ => return false,
            }
        }
    }
}

/// One direction of a compressed connection.
#[derive(Debug, Default)]
pub struct Unpack {
    method: Method,
    header: [u8; HEADER_BYTES],
    have_bytes: usize,
    left_bytes: usize,
    unpacked_bytes: usize,
    is_skipped: bool,
    held: Vec<u8>,
    /// Bytes that could not be inflated or held.
    pub unread_bytes: u64,
}

impl Unpack {
    pub fn new(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    /// Bytes are missing: the next piece begins a packet, or it is read as noise.
    pub fn restart(&mut self, inflater: &mut Inflater) {
        self.drop_held(inflater);
        *self = Self { method: self.method, unread_bytes: self.unread_bytes, ..Self::default() };
    }

    /// Takes the next bytes, gives what they hold.
    pub fn feed(&mut self, mut piece: &[u8], inflater: &mut Inflater, out: &mut dyn FnMut(&[u8])) {
        while !piece.is_empty() {
            if self.have_bytes < HEADER_BYTES {
                let room = self.header.get_mut(self.have_bytes..).unwrap_or_default();
                let count = room.len().min(piece.len());
                let (taken, rest) = piece.split_at(count);
                for (to, from) in room.iter_mut().zip(taken) {
                    *to = *from;
                }
                piece = rest;
                self.have_bytes += count;
                if self.have_bytes < HEADER_BYTES {
                    return;
                }
                let [p0, p1, p2, _sequence, u0, u1, u2] = self.header;
                self.left_bytes = u32::from_le_bytes([p0, p1, p2, 0]) as usize;
                self.unpacked_bytes = u32::from_le_bytes([u0, u1, u2, 0]) as usize;
                self.is_skipped = false;
            }
            let (passing, rest) = piece.split_at(self.left_bytes.min(piece.len()));
            piece = rest;
            self.left_bytes -= passing.len();
            if self.unpacked_bytes == 0 {
                if !passing.is_empty() {
                    out(passing);
                }
            } else if self.left_bytes == 0 && self.held.is_empty() && !self.is_skipped {
                if !inflater.open(self.method, passing, self.unpacked_bytes, out) {
                    self.unread_bytes += passing.len() as u64;
                }
            } else if self.is_skipped || inflater.held_bytes + passing.len() > HELD_BYTES_MAX {
                self.unread_bytes += (self.held.len() + passing.len()) as u64;
                self.drop_held(inflater);
                self.is_skipped = true;
            } else {
                self.held.extend_from_slice(passing);
                inflater.held_bytes += passing.len();
                if self.left_bytes == 0 {
                    if !inflater.open(self.method, &self.held, self.unpacked_bytes, out) {
                        self.unread_bytes += self.held.len() as u64;
                    }
                    self.drop_held(inflater);
                }
            }
            if self.left_bytes == 0 {
                self.have_bytes = 0;
            }
        }
    }

    /// Gives back what is held.
    pub fn drop_held(&mut self, inflater: &mut Inflater) {
        inflater.held_bytes = inflater.held_bytes.saturating_sub(self.held.len());
        self.held = Vec::new();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed_with(method: Method, payload: &[u8], is_compressed: bool) -> Vec<u8> {
        let body = match (is_compressed, method) {
            (false, _) => payload.to_vec(),
            (true, Method::Zlib) => miniz_oxide::deflate::compress_to_vec_zlib(payload, 6),
            (true, Method::Zstd) => {
                ruzstd::encoding::compress_to_vec(payload, ruzstd::encoding::CompressionLevel::Fastest)
            }
        };
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        let before = u32::try_from(if is_compressed { payload.len() } else { 0 }).unwrap().to_le_bytes();
        [&length[..3], &[0], &before[..3], &body].concat()
    }

    fn unpack_with(method: Method, bytes: &[u8], step: usize) -> (Vec<u8>, u64) {
        let (mut unpack, mut inflater, mut seen) = (Unpack::new(method), Inflater::default(), vec![]);
        for piece in bytes.chunks(step) {
            unpack.feed(piece, &mut inflater, &mut |piece| seen.extend_from_slice(piece));
        }
        unpack.drop_held(&mut inflater);
        assert_eq!(inflater.held_bytes, 0);
        (seen, unpack.unread_bytes)
    }

    #[test]
    fn gives_what_was_packed_however_it_is_cut() {
        let long: Vec<u8> = (0..200_000_u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for method in [Method::Zlib, Method::Zstd] {
            let packed = |payload: &[u8], is_compressed| packed_with(method, payload, is_compressed);
            let bytes = [packed(b"plain", false), packed(&long, true), packed(b"end", true)].concat();
            let expected = [b"plain", long.as_slice(), b"end"].concat();
            for step in [1, 7, 1448, 1 << 24] {
                assert_eq!(unpack_with(method, &bytes, step), (expected.clone(), 0), "{method:?} {step}");
            }
        }
    }

    #[test]
    fn a_length_that_lies_gives_no_more_than_it_says_and_is_told() {
        for method in [Method::Zlib, Method::Zstd] {
            let mut bytes = packed_with(method, &vec![b'x'; 1 << 20], true);
            bytes[4..7].copy_from_slice(&[100, 0, 0]);
            let (seen, unread_bytes) = unpack_with(method, &bytes, 1 << 24);
            assert_eq!(seen.len(), 100, "{method:?}");
            assert!(unread_bytes > 0);
        }
    }

    #[test]
    fn a_frame_that_wants_much_memory_is_refused() {
        // Source: RFC 8878 section 3.1.1: magic, descriptor, window: 2^(10 + 20) bytes; then a block of three bytes.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x19, 0x00, 0x00, b'a', b'b', b'c'];
        let bytes = [&[12, 0, 0, 0, 3, 0, 0][..], &frame].concat();
        assert_eq!(unpack_with(Method::Zstd, &bytes, 1 << 10), (vec![], 12));
        let mut small = bytes.clone();
        small[7 + 5] = 0;
        assert_eq!(unpack_with(Method::Zstd, &small, 1 << 10), (b"abc".to_vec(), 0));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(noise in proptest::collection::vec(any::<u8>(), 0..300), step in 1_usize..50, at in 0_usize..40) {
            for method in [Method::Zlib, Method::Zstd] {
                let _ = unpack_with(method, &noise, step);
                let mut bytes = packed_with(method, b"something that is packed, packed, packed", true);
                let at = at.min(bytes.len());
                bytes.splice(at.., noise.iter().copied());
                let _ = unpack_with(method, &bytes, step);
            }
        }
    }
}

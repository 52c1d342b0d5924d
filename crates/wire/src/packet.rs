//! Packet framing: a 24-bit length, a sequence number, a payload; longer payloads are split.

use crate::WireError;

/// Length of the header in front of each frame.
pub const HEADER_BYTES: usize = 4;
/// A frame of exactly this payload length is followed by another frame of the same payload.
pub const FRAME_BYTES_MAX: usize = 0xff_ffff;
/// Before a login nothing legitimate is longer; a greeting has about 100 bytes.
pub const BEFORE_LOGIN_BYTES_MAX: usize = 64 * 1024;
/// The servers' own upper bound of `max_allowed_packet`.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 30;

/// One complete payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Sequence number of the first frame.
    pub first_sequence: u8,
    /// Sequence number of the last frame; the answer to it carries the next one.
    pub last_sequence: u8,
    pub payload: &'a [u8],
}

/// Where the next complete payload lies.
enum Found {
    InPlace { start: usize, end: usize },
    Joined,
}

/// Collects bytes as they arrive and gives complete payloads; its memory is reused.
#[derive(Debug)]
pub struct PacketBuffer {
    received: Vec<u8>,
    consumed: usize,
    /// Frames before the last one of a split payload.
    joined: Vec<u8>,
    /// Sequence number of the first frame in `joined`, and of the next one that must come.
    joining: Option<(u8, u8)>,
    joined_is_stale: bool,
    payload_bytes_max: usize,
}

impl PacketBuffer {
    /// Refuses payloads over `payload_bytes_max` as soon as a header announces one.
    pub fn new(payload_bytes_max: usize) -> Self {
        Self {
            received: Vec::new(),
            consumed: 0,
            joined: Vec::new(),
            joining: None,
            joined_is_stale: false,
            payload_bytes_max,
        }
    }

    pub fn set_payload_bytes_max(&mut self, payload_bytes_max: usize) {
        self.payload_bytes_max = payload_bytes_max;
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.compact();
        self.received.extend_from_slice(bytes);
    }

    /// Lets `fill` write up to `room_bytes` of new bytes in place; it says how many it wrote.
    pub fn push_with<E>(
        &mut self,
        room_bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.compact();
        let before = self.received.len();
        self.received.resize(before + room_bytes, 0);
        let written = match self.received.get_mut(before..) {
            Some(room) => fill(room),
            None => Ok(0),
        };
        let kept = written.as_ref().map_or(0, |count| (*count).min(room_bytes));
        self.received.truncate(before + kept);
        written
    }

    /// Takes what was received and not read as packets: where TLS begins, the rest is no packet any more.
    pub fn take_unread(&mut self) -> Vec<u8> {
        let rest = self.received.split_off(self.consumed.min(self.received.len()));
        self.received.clear();
        self.consumed = 0;
        rest
    }

    /// Bytes that arrived and belong to no payload given out yet.
    pub fn unread_bytes(&self) -> usize {
        let partly = if self.joining.is_some() { self.joined.len() } else { 0 };
        self.received.len().saturating_sub(self.consumed) + partly
    }

    /// Is a whole payload there? Looks only; an announced length over the limit is an error at once.
    pub fn has_packet(&self) -> Result<bool, WireError> {
        let mut unread = self.received.get(self.consumed..).unwrap_or_default();
        let mut payload_bytes = if self.joining.is_some() { self.joined.len() } else { 0 };
        loop {
            let Some(([a, b, c, _], after_header)) = unread.split_first_chunk() else { return Ok(false) };
            let frame_bytes = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
            payload_bytes += frame_bytes;
            self.check_limit(payload_bytes)?;
            let Some(rest) = after_header.get(frame_bytes..) else { return Ok(false) };
            if frame_bytes < FRAME_BYTES_MAX {
                return Ok(true);
            }
            unread = rest;
        }
    }

    fn check_limit(&self, payload_bytes: usize) -> Result<(), WireError> {
        if payload_bytes <= self.payload_bytes_max {
            return Ok(());
        }
        let (announced, max) = (payload_bytes as u64, self.payload_bytes_max as u64);
        Err(WireError::OverLimit { what: "packet", announced, max })
    }

    /// The next complete payload, or `None` when more bytes are needed.
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, WireError> {
        if self.joined_is_stale {
            self.joined.clear();
            self.joined_is_stale = false;
        }
        let (found, first_sequence, last_sequence) = loop {
            let unread = self.received.get(self.consumed..).unwrap_or_default();
            let Some(([a, b, c, sequence], after_header)) = unread.split_first_chunk() else {
                return Ok(None);
            };
            let frame_bytes = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
            self.check_limit(self.joined.len() + frame_bytes)?;
            let sequence = *sequence;
            if let Some((_, expected)) = self.joining
                && expected != sequence
            {
                return Err(WireError::OutOfOrder { expected, seen: sequence });
            }
            let Some(frame) = after_header.get(..frame_bytes) else { return Ok(None) };
            let start = self.consumed + HEADER_BYTES;
            self.consumed = start + frame_bytes;
            let first = self.joining.map_or(sequence, |(first, _)| first);
            if frame_bytes == FRAME_BYTES_MAX {
                self.joined.extend_from_slice(frame);
                self.joining = Some((first, sequence.wrapping_add(1)));
            } else if self.joining.take().is_some() {
                self.joined.extend_from_slice(frame);
                self.joined_is_stale = true;
                break (Found::Joined, first, sequence);
            } else {
                break (Found::InPlace { start, end: start + frame_bytes }, first, sequence);
            }
        };
        let payload = match found {
            Found::InPlace { start, end } => self.received.get(start..end).unwrap_or_default(),
            Found::Joined => &self.joined,
        };
        Ok(Some(Packet { first_sequence, last_sequence, payload }))
    }

    fn compact(&mut self) {
        if self.consumed == self.received.len() {
            self.received.clear();
            self.consumed = 0;
        } else if self.consumed >= 64 * 1024 {
            // Moving what is left is cheap only now and then, so not after each packet.
            self.received.drain(..self.consumed);
            self.consumed = 0;
        }
    }
}

/// The frame that begins these bytes, if it is whole: its sequence number, its payload, and what follows it. Nothing is copied, and a
/// length beyond the bytes that are there is `None`.
pub fn whole_packet(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let ([a, b, c, sequence], rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (payload, rest) = rest.split_at_checked(u32::from_le_bytes([*a, *b, *c, 0]) as usize)?;
    Some((*sequence, payload, rest))
}

/// Appends `payload` as one or more frames and moves `sequence` on.
pub fn write_payload(out: &mut Vec<u8>, sequence: &mut u8, payload: &[u8]) {
    let mut rest = payload;
    loop {
        let (frame, tail) = rest.split_at(rest.len().min(FRAME_BYTES_MAX));
        let [a, b, c, ..] = (frame.len() as u64).to_le_bytes();
        out.extend_from_slice(&[a, b, c, *sequence]);
        out.extend_from_slice(frame);
        *sequence = sequence.wrapping_add(1);
        rest = tail;
        // A last frame shorter than the maximum, if need be an empty one, says "that was all".
        if frame.len() < FRAME_BYTES_MAX {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_payload(&mut out, &mut 0, payload);
        out
    }

    #[test]
    fn every_prefix_of_a_packet_needs_more() {
        let bytes = framed(b"hello");
        for cut in 0..bytes.len() {
            let mut buffer = PacketBuffer::new(100);
            buffer.push(&bytes[..cut]);
            assert_eq!(buffer.has_packet(), Ok(false));
            assert_eq!(buffer.next_packet(), Ok(None));
            buffer.push(&bytes[cut..]);
            assert_eq!(buffer.has_packet(), Ok(true));
            assert_eq!(buffer.next_packet().unwrap().unwrap().payload, b"hello");
            assert_eq!(buffer.unread_bytes(), 0);
        }
    }

    proptest! {
        #[test]
        fn a_whole_packet_is_found_with_what_follows_and_a_cut_one_is_none(
            payload in proptest::collection::vec(any::<u8>(), 0..300),
            rest in proptest::collection::vec(any::<u8>(), 0..9),
            cut in 0_usize..304,
        ) {
            let bytes = framed(&payload);
            prop_assert_eq!(whole_packet(&bytes[..cut % bytes.len()]), None);
            let with_rest = [&bytes[..], &rest].concat();
            prop_assert_eq!(whole_packet(&with_rest), Some((0, &payload[..], &rest[..])));
        }
    }

    #[test]
    fn joins_payloads_of_sixteen_mebibytes_and_more() {
        for length in [FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 7] {
            let payload = vec![7; length];
            let bytes = framed(&payload);
            let mut buffer = PacketBuffer::new(FRAME_BYTES_MAX * 2);
            for part in bytes.chunks(1 << 20) {
                buffer.push(part);
            }
            let packet = buffer.next_packet().unwrap().unwrap();
            assert_eq!(packet.payload.len(), length);
            assert_eq!(packet.last_sequence, u8::from(length >= FRAME_BYTES_MAX));
            buffer.push(&framed(b"x"));
            assert_eq!(buffer.next_packet().unwrap().unwrap().payload, b"x");
        }
    }

    #[test]
    fn refuses_a_payload_over_the_limit_by_its_header_alone() {
        let mut buffer = PacketBuffer::new(10);
        buffer.push(&[11, 0, 0, 0]);
        assert!(matches!(buffer.next_packet(), Err(WireError::OverLimit { announced: 11, .. })));
    }

    #[test]
    fn refuses_a_split_payload_whose_frames_are_out_of_order() {
        let mut bytes = framed(&vec![1; FRAME_BYTES_MAX + 1]);
        bytes[HEADER_BYTES + FRAME_BYTES_MAX + 3] = 9;
        let mut buffer = PacketBuffer::new(FRAME_BYTES_MAX * 2);
        buffer.push(&bytes);
        assert_eq!(buffer.next_packet(), Err(WireError::OutOfOrder { expected: 1, seen: 9 }));
    }

    proptest! {
        #[test]
        fn gives_the_same_payloads_however_the_bytes_arrive(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..20),
            step in 1_usize..97,
        ) {
            let bytes: Vec<u8> = payloads.iter().flat_map(|payload| framed(payload)).collect();
            let mut buffer = PacketBuffer::new(1000);
            let mut seen = Vec::new();
            for part in bytes.chunks(step) {
                let _ = buffer.push_with(part.len(), |room| {
                    room.copy_from_slice(part);
                    Ok::<_, ()>(part.len())
                });
                while let Some(packet) = buffer.next_packet().unwrap() {
                    seen.push(packet.payload.to_vec());
                }
            }
            prop_assert_eq!(seen, payloads);
        }
    }
}

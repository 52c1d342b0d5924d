//! MySQL packets of one direction as they pass, of which only the beginning is kept.
//!
//! [`wire::PacketBuffer`] holds a packet until it is whole; here a row of a gigabyte passes and takes no memory.

use wire::packet::{FRAME_BYTES_MAX, HEADER_BYTES};

/// So much of a packet is kept when it comes in pieces: statements are mostly shorter.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// A packet that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Sequence number of its first frame.
    pub sequence: u8,
    /// The beginning of the payload.
    pub head: &'a [u8],
    /// Of the whole payload.
    pub bytes: u64,
}

impl Packet<'_> {
    pub fn is_whole(&self) -> bool {
        self.bytes == self.head.len() as u64
    }
}

/// Finds packets in the bytes of one direction.
#[derive(Debug, Default)]
pub struct Frames {
    header: [u8; HEADER_BYTES],
    have_bytes: usize,
    /// Of the frame that is passing.
    left_bytes: usize,
    /// The frame before was of the full length: this one belongs to the same packet.
    goes_on: bool,
    sequence: u8,
    passed_bytes: u64,
    head: Vec<u8>,
    head_is_stale: bool,
}

impl Frames {
    /// The next packet that ends in `piece`, which is shortened by what has passed.
    pub fn next<'s, 'p: 's>(&'s mut self, piece: &mut &'p [u8]) -> Option<Packet<'s>> {
        if std::mem::take(&mut self.head_is_stale) {
            // A statement of 16 KiB is rare; its memory is not for every connection.
            if self.head.capacity() > 1024 {
                self.head = Vec::new();
            }
            self.head.clear();
        }
        loop {
            if self.have_bytes < HEADER_BYTES {
                let room = self.header.get_mut(self.have_bytes..).unwrap_or_default();
                let count = room.len().min(piece.len());
                let (taken, rest) = piece.split_at(count);
                for (to, from) in room.iter_mut().zip(taken) {
                    *to = *from;
                }
                *piece = rest;
                self.have_bytes += count;
                if self.have_bytes < HEADER_BYTES {
                    return None;
                }
                let [a, b, c, sequence] = self.header;
                self.left_bytes = u32::from_le_bytes([a, b, c, 0]) as usize;
                let is_full = self.left_bytes == FRAME_BYTES_MAX;
                if !self.goes_on {
                    self.sequence = sequence;
                    self.passed_bytes = 0;
                }
                let begins = !self.goes_on;
                self.goes_on = is_full;
                if begins
                    && !is_full
                    && let Some((payload, rest)) = piece.split_at_checked(self.left_bytes)
                {
                    *piece = rest;
                    self.have_bytes = 0;
                    return Some(Packet { sequence, head: payload, bytes: payload.len() as u64 });
                }
            }
            let (passing, rest) = piece.split_at(self.left_bytes.min(piece.len()));
            *piece = rest;
            self.left_bytes -= passing.len();
            self.passed_bytes += passing.len() as u64;
            let room = HEAD_BYTES_MAX - self.head.len().min(HEAD_BYTES_MAX);
            self.head.extend_from_slice(passing.get(..room).unwrap_or(passing));
            if self.left_bytes > 0 {
                return None;
            }
            self.have_bytes = 0;
            if !self.goes_on {
                self.head_is_stale = true;
                return Some(Packet { sequence: self.sequence, head: &self.head, bytes: self.passed_bytes });
            }
        }
    }

    /// The next byte begins a packet.
    pub fn is_between_packets(&self) -> bool {
        self.have_bytes == 0 && !self.goes_on
    }

    /// Bytes are missing: the next piece begins a packet, or nobody knows where one begins.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[&[u8]]) -> Vec<(u8, Vec<u8>, u64)> {
        let (mut frames, mut seen) = (Frames::default(), vec![]);
        for piece in pieces {
            let mut rest = *piece;
            while let Some(packet) = frames.next(&mut rest) {
                seen.push((packet.sequence, packet.head.to_vec(), packet.bytes));
            }
            assert!(rest.is_empty());
            assert!(frames.head.len() <= HEAD_BYTES_MAX);
        }
        seen
    }

    fn framed(first: u8, payload: &[u8]) -> Vec<u8> {
        let (mut out, mut sequence) = (vec![], first);
        wire::packet::write_payload(&mut out, &mut sequence, payload);
        out
    }

    #[test]
    fn a_packet_cut_at_any_byte_is_the_same() {
        let bytes = [framed(0, b"\x03SELECT 1"), framed(7, b""), framed(1, b"x")].concat();
        let whole = all(&[&bytes]);
        assert_eq!(whole.len(), 3);
        for cut in 0..=bytes.len() {
            assert_eq!(all(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn of_a_long_packet_the_head_is_kept_and_the_rest_counted() {
        for length in [HEAD_BYTES_MAX + 5, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 9] {
            let mut payload = vec![7; length];
            payload[0] = 1;
            let bytes = [framed(3, &payload), framed(9, b"next")].concat();
            let pieces: Vec<&[u8]> = bytes.chunks(1448).collect();
            let seen = all(&pieces);
            assert_eq!(seen.len(), 2, "{length}");
            assert_eq!(
                (seen[0].0, seen[0].1.as_slice(), seen[0].2),
                (3, &payload[..HEAD_BYTES_MAX], length as u64)
            );
            assert_eq!(seen[1], (9, b"next".to_vec(), 4));
        }
    }

    proptest! {
        #[test]
        fn packets_do_not_depend_on_how_the_bytes_come(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..90), 0..20),
            step in 1_usize..70,
        ) {
            let bytes: Vec<u8> = payloads.iter().flat_map(|payload| framed(5, payload)).collect();
            let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
            let seen: Vec<Vec<u8>> = all(&pieces).into_iter().map(|(_, head, _)| head).collect();
            prop_assert_eq!(seen, payloads);
        }
    }
}

//! One direction of a TCP connection: segments in any order become bytes in order, with known gaps.
//!
//! What the bytes are for is the [`Sink`]'s business: [`crate::stream`] counts and searches, a decoder reads.

use std::collections::{BTreeMap, VecDeque};

/// Bytes that wait for an earlier one, per direction. Linux buffers up to 6 MiB by default; a gap on a
/// link that we watch from the side is a lost packet, not a late one, so less is enough.
pub const OUT_OF_ORDER_BYTES_MAX: usize = 1 << 20;
/// Pieces that wait, however small they are.
const OUT_OF_ORDER_PIECES_MAX: usize = 4096;
/// No window and no retransmission reaches back so far: such a segment belongs to a connection whose SYN we missed.
const OLD_BYTES_MAX: i64 = 1 << 28;

/// What is sent again lies within a window of the sender's. Sequence numbers of a new connection of the same addresses are
/// elsewhere: on Linux they grow by 15.6 million a second.
const LATE_BYTES_MAX: i64 = 16 << 20;

/// Pieces of which it is kept what they were. A retransmission comes within a window; one that reaches further back is not
/// compared, as it never was. 16 bytes each, for each direction of each open connection.
const COMPARED_PIECES_MAX: usize = 16;

/// Who takes the bytes of one direction.
pub trait Sink {
    /// Does it want to be told of [`Sink::conflict`]? It costs a look at each byte.
    const COMPARES: bool = false;
    /// Bytes were sent again, and were others than those that were handed over: which of them the peer took nobody knows.
    fn conflict(&mut self) {}
    /// A segment brought new bytes; `is_whole` when nothing of it was seen before. It may be ahead of the stream.
    fn segment(&mut self, payload: &[u8], is_whole: bool);
    /// The next bytes. `starts_segment`: a segment begins with them.
    fn piece(&mut self, piece: &[u8], stream_offset: u64, starts_segment: bool);
    /// Here bytes are missing: so many, at least.
    fn gap(&mut self, missing_bytes: u64);
}

/// What a piece that was handed over was.
#[derive(Debug, Clone, Copy)]
struct Passed {
    offset: u64,
    length: u32,
    digest: u32,
}

/// Tells bytes apart, not more: who wants two that are alike can make them.
fn digest(bytes: &[u8]) -> u32 {
    // An odd number without a pattern: the golden ratio's digits.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: [u8; 8]| (sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR).rotate_left(29);
    // Four sums side by side: a multiplication waits for the one before it, and each byte of a capture passes here.
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut sums = [1, 2, 3, bytes.len() as u64];
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum = mix(*sum, *word);
        }
    }
    let (words, rest) = rest.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let ends = words.iter().copied().chain([last]).chain(sums.map(u64::to_le_bytes));
    let sum = ends.fold(FACTOR, mix);
    u32::try_from(sum >> 32).unwrap_or_default()
}

/// Puts the segments of one direction in order.
#[derive(Debug, Default)]
pub struct Order {
    /// Sequence number and stream offset of the next byte; `None` before the first segment.
    next: Option<(u32, u64)>,
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_bytes: usize,
    /// The newest pieces, in order.
    passed: VecDeque<Passed>,
    saw_start: bool,
    initial_sequence: Option<u32>,
    /// Where the stream reaches to by what the peer's headers say, seen or not.
    announced_end: u64,
    /// Where the stream ends for good. The FIN itself takes a sequence number that is no byte.
    fin_at: u64,
    saw_fin: bool,
}

impl Order {
    /// The stream begins after this SYN. `false`: another connection has this SYN, this stream is over.
    pub fn syn(&mut self, sequence: u32) -> bool {
        if self.initial_sequence == Some(sequence) {
            return true; // Sent again.
        }
        if self.next.is_some() {
            return false;
        }
        self.initial_sequence = Some(sequence);
        self.next = Some((sequence.wrapping_add(1), 0));
        self.saw_start = true;
        true
    }

    /// Takes a segment's payload, of which `cut_bytes` more were sent but not captured. An empty one (an
    /// acknowledgement, a FIN) still tells how far the stream reaches.
    pub fn payload(&mut self, sequence: u32, payload: &[u8], cut_bytes: usize, sink: &mut impl Sink) {
        if self.next.is_none() && payload.is_empty() {
            return;
        }
        // Joining in the middle: the first payload that we see is where the stream begins for us.
        let (next_sequence, next_offset) = *self.next.get_or_insert((sequence, 0));
        let distance = i64::from(sequence.wrapping_sub(next_sequence).cast_signed());
        if distance < -OLD_BYTES_MAX {
            self.restart(sequence, sink);
            return self.payload(sequence, payload, cut_bytes, sink);
        }
        let end = next_offset.saturating_add_signed(distance) + (payload.len() + cut_bytes) as u64;
        self.announced_end = self.announced_end.max(end);
        if payload.is_empty() {
            return;
        }
        if distance <= 0 {
            let old_bytes = usize::try_from(-distance).unwrap_or(usize::MAX);
            if old_bytes > 0 && self.is_other(next_offset.saturating_add_signed(distance), payload) {
                sink.conflict();
            }
            let Some(new) = payload.get(old_bytes..).filter(|new| !new.is_empty()) else { return };
            // Only a segment that is new from its first byte says something about where records begin.
            sink.segment(payload, old_bytes == 0);
            self.in_order(new, old_bytes == 0, sink);
        } else {
            let ahead_bytes = distance.unsigned_abs();
            let offset = next_offset + ahead_bytes;
            if let Some(held) = self.waiting.get(&offset) {
                if held.iter().zip(payload).any(|(old, new)| old != new) {
                    sink.conflict();
                }
                if held.len() >= payload.len() {
                    return;
                }
            }
            sink.segment(payload, true);
            self.waiting_bytes += payload.len();
            if let Some(shorter) = self.waiting.insert(offset, payload.to_vec()) {
                self.waiting_bytes -= shorter.len();
            }
        }
        if self.waiting_bytes == 0 {
            return;
        }
        self.catch_up(sink);
        while self.waiting_bytes > OUT_OF_ORDER_BYTES_MAX || self.waiting.len() > OUT_OF_ORDER_PIECES_MAX {
            self.skip_gap(sink);
        }
    }

    /// The sender says that its stream ends at this sequence number.
    pub fn fin(&mut self, sequence: u32) {
        if let Some((next_sequence, next_offset)) = self.next {
            let distance = i64::from(sequence.wrapping_sub(next_sequence).cast_signed());
            self.fin_at = next_offset.saturating_add_signed(distance);
            self.saw_fin = true;
        }
    }

    /// Nothing more will come: what waits is read, what it waited for is missing.
    pub fn finish(&mut self, sink: &mut impl Sink) {
        while !self.waiting.is_empty() {
            self.skip_gap(sink);
        }
        let end = if self.saw_fin { self.fin_at } else { self.announced_end };
        if let Some((_, offset)) = self.next
            && end > offset
        {
            self.skip_to(end, sink);
        }
    }

    /// Bytes that wait for an earlier one.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// The SYN was seen.
    pub fn saw_start(&self) -> bool {
        self.saw_start
    }

    /// The sender has said where its stream ends, and everything up to there was seen.
    pub fn is_over(&self) -> bool {
        self.saw_fin && self.next.is_some_and(|(_, offset)| offset >= self.fin_at)
    }

    /// Both addresses are known and this direction is over: does a segment with bytes still belong to it, sent again or
    /// late? `ahead_bytes_max`: how far behind the last byte a late one may lie.
    pub fn is_late(&self, sequence: u32, length: usize, ahead_bytes_max: i64) -> bool {
        let Some((next_sequence, _)) = self.next else { return true };
        let distance = i64::from(sequence.wrapping_sub(next_sequence).cast_signed());
        let end = distance.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
        distance >= -LATE_BYTES_MAX && end <= ahead_bytes_max
    }

    fn in_order<S: Sink>(&mut self, piece: &[u8], starts_segment: bool, sink: &mut S) {
        let Some((sequence, offset)) = &mut self.next else { return };
        let at = *offset;
        // A piece is part of one packet, so far shorter than 4 GiB.
        *sequence = sequence.wrapping_add(u32::try_from(piece.len()).unwrap_or(u32::MAX));
        *offset += piece.len() as u64;
        if S::COMPARES {
            if self.passed.len() == COMPARED_PIECES_MAX {
                self.passed.pop_front();
            }
            let length = u32::try_from(piece.len()).unwrap_or(u32::MAX);
            self.passed.push_back(Passed { offset: at, length, digest: digest(piece) });
        }
        sink.piece(piece, at, starts_segment);
    }

    /// Are these other bytes than those that were handed over from `offset` on? Only whole pieces can be compared: what is
    /// sent again begins where it began, and may hold several of them.
    fn is_other(&self, from: u64, mut payload: &[u8]) -> bool {
        // A keep-alive repeats one byte, and may have any there (RFC 9293 section 3.8.4).
        if payload.len() == 1 {
            return false;
        }
        let mut offset = from;
        for passed in self.passed.iter().skip_while(|passed| passed.offset < from) {
            let Some((piece, rest)) = payload.split_at_checked(passed.length as usize) else { return false };
            if passed.offset != offset {
                return false;
            }
            if digest(piece) != passed.digest {
                return true;
            }
            offset += piece.len() as u64;
            payload = rest;
        }
        false
    }

    fn catch_up(&mut self, sink: &mut impl Sink) {
        while let (Some((_, next_offset)), Some(entry)) = (self.next, self.waiting.first_entry()) {
            if *entry.key() > next_offset {
                return;
            }
            let (offset, piece) = entry.remove_entry();
            self.waiting_bytes -= piece.len();
            let old_bytes = usize::try_from(next_offset - offset).unwrap_or(usize::MAX);
            if let Some(new) = piece.get(old_bytes..).filter(|new| !new.is_empty()) {
                self.in_order(new, old_bytes == 0, sink);
            }
        }
    }

    fn skip_gap(&mut self, sink: &mut impl Sink) {
        if let Some((&first, _)) = self.waiting.first_key_value() {
            self.skip_to(first, sink);
        }
        self.catch_up(sink);
    }

    /// Goes on at another sequence number; how much is missing in between nobody knows.
    fn restart(&mut self, sequence: u32, sink: &mut impl Sink) {
        self.finish(sink);
        if let Some((next, offset)) = &mut self.next {
            *next = sequence;
            self.announced_end = *offset;
            self.saw_fin = false;
        }
        sink.gap(1);
    }

    fn skip_to(&mut self, to: u64, sink: &mut impl Sink) {
        let Some((sequence, offset)) = &mut self.next else { return };
        let gap_bytes = to.saturating_sub(*offset);
        // Less than 2 GiB: sequence numbers reach no further.
        *sequence = sequence.wrapping_add(u32::try_from(gap_bytes).unwrap_or(u32::MAX));
        *offset += gap_bytes;
        sink.gap(gap_bytes);
    }
}

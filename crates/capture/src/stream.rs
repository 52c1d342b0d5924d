//! One direction of a TCP connection: segments in any order become a stream with known gaps.

use std::collections::BTreeMap;

use wire::{SegmentShape, classify_segment, starts_with_client_hello};

use crate::canary::Scanner;

/// Bytes that wait for an earlier one, per direction. Linux buffers up to 6 MiB by default; a gap on a
/// link that we watch from the side is a lost packet, not a late one, so less is enough.
pub const OUT_OF_ORDER_BYTES_MAX: usize = 1 << 20;
/// Pieces that wait, however small they are.
const OUT_OF_ORDER_PIECES_MAX: usize = 4096;
/// No window and no retransmission reaches back so far: such a segment belongs to a connection whose SYN we missed.
const OLD_BYTES_MAX: i64 = 1 << 28;
/// An SSLRequest with its packet header: a ClientHello may follow it in the same segment.
const SSL_REQUEST_BYTES: usize = 36;

/// Counters and the scanner of one direction.
#[derive(Debug, Default)]
pub struct Stream {
    /// Sequence number and stream offset of the next byte; `None` before the first segment.
    next: Option<(u32, u64)>,
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_bytes: usize,
    pub bytes: u64,
    pub segments: u64,
    pub tls_segments: u64,
    pub tls_bytes: u64,
    pub client_hello: bool,
    pub missing_bytes: u64,
    pub saw_start: bool,
    initial_sequence: Option<u32>,
    /// Where the stream reaches to by what the peer's headers say, seen or not.
    announced_end: u64,
    /// Where the stream ends for good. The FIN itself takes a sequence number that is no byte.
    fin_at: u64,
    saw_fin: bool,
    tls: TlsWalk,
    pub scanner: Scanner,
}

/// Follows TLS records from one to the next.
#[derive(Debug, Default)]
enum TlsWalk {
    /// Not in step: the next segment that begins with a record begins a chain.
    #[default]
    Lost,
    InRecord {
        left_bytes: usize,
    },
    InHeader {
        header: [u8; wire::tls::RECORD_HEADER_BYTES],
        have_bytes: usize,
    },
}

impl Stream {
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
    pub fn payload(&mut self, sequence: u32, payload: &[u8], cut_bytes: usize, scratch: &mut Vec<u8>) {
        if self.next.is_none() && payload.is_empty() {
            return;
        }
        // Joining in the middle: the first payload that we see is where the stream begins for us.
        let (next_sequence, next_offset) = *self.next.get_or_insert((sequence, 0));
        let distance = i64::from(sequence.wrapping_sub(next_sequence).cast_signed());
        if distance < -OLD_BYTES_MAX {
            self.restart(sequence, scratch);
            return self.payload(sequence, payload, cut_bytes, scratch);
        }
        let end = next_offset.saturating_add_signed(distance) + (payload.len() + cut_bytes) as u64;
        self.announced_end = self.announced_end.max(end);
        if payload.is_empty() {
            return;
        }
        if distance <= 0 {
            let old_bytes = usize::try_from(-distance).unwrap_or(usize::MAX);
            let Some(new) = payload.get(old_bytes..).filter(|new| !new.is_empty()) else { return };
            // Only a segment that is new from its first byte says something about where records begin.
            self.count_segment(payload, old_bytes == 0);
            self.in_order(new, old_bytes == 0, scratch);
        } else {
            let ahead_bytes = distance.unsigned_abs();
            let offset = next_offset + ahead_bytes;
            if self.waiting.get(&offset).is_some_and(|held| held.len() >= payload.len()) {
                return;
            }
            self.count_segment(payload, true);
            self.waiting_bytes += payload.len();
            if let Some(shorter) = self.waiting.insert(offset, payload.to_vec()) {
                self.waiting_bytes -= shorter.len();
            }
        }
        self.catch_up(scratch);
        while self.waiting_bytes > OUT_OF_ORDER_BYTES_MAX || self.waiting.len() > OUT_OF_ORDER_PIECES_MAX {
            self.skip_gap(scratch);
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
    pub fn finish(&mut self, scratch: &mut Vec<u8>) {
        while !self.waiting.is_empty() {
            self.skip_gap(scratch);
        }
        let end = if self.saw_fin { self.fin_at } else { self.announced_end };
        if let Some((_, offset)) = self.next
            && end > offset
        {
            self.skip_to(end);
        }
    }

    /// Bytes that wait for an earlier one.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    fn count_segment(&mut self, payload: &[u8], whole: bool) {
        self.segments += 1;
        if whole {
            self.tls_segments += u64::from(classify_segment(payload) != SegmentShape::NotTls);
            self.client_hello |= starts_with_client_hello(after_ssl_request(payload));
        }
    }

    fn in_order(&mut self, piece: &[u8], starts_segment: bool, scratch: &mut Vec<u8>) {
        let Some((sequence, offset)) = &mut self.next else { return };
        let at = *offset;
        // A piece is part of one packet, so far shorter than 4 GiB.
        *sequence = sequence.wrapping_add(u32::try_from(piece.len()).unwrap_or(u32::MAX));
        *offset += piece.len() as u64;
        self.bytes += piece.len() as u64;
        self.tls_bytes += self.tls.feed(piece, starts_segment);
        self.scanner.feed(piece, at, scratch);
    }

    fn catch_up(&mut self, scratch: &mut Vec<u8>) {
        while let (Some((_, next_offset)), Some(entry)) = (self.next, self.waiting.first_entry()) {
            if *entry.key() > next_offset {
                return;
            }
            let (offset, piece) = entry.remove_entry();
            self.waiting_bytes -= piece.len();
            let old_bytes = usize::try_from(next_offset - offset).unwrap_or(usize::MAX);
            if let Some(new) = piece.get(old_bytes..).filter(|new| !new.is_empty()) {
                self.in_order(new, old_bytes == 0, scratch);
            }
        }
    }

    fn skip_gap(&mut self, scratch: &mut Vec<u8>) {
        if let Some((&first, _)) = self.waiting.first_key_value() {
            self.skip_to(first);
        }
        self.catch_up(scratch);
    }

    /// Goes on at another sequence number; how much is missing in between nobody knows.
    fn restart(&mut self, sequence: u32, scratch: &mut Vec<u8>) {
        self.finish(scratch);
        if let Some((next, offset)) = &mut self.next {
            *next = sequence;
            self.announced_end = *offset;
            self.saw_fin = false;
        }
        self.missing_bytes += 1;
        self.tls = TlsWalk::Lost;
        self.scanner.gap();
    }

    fn skip_to(&mut self, to: u64) {
        let Some((sequence, offset)) = &mut self.next else { return };
        let gap_bytes = to.saturating_sub(*offset);
        // Less than 2 GiB: sequence numbers reach no further.
        *sequence = sequence.wrapping_add(u32::try_from(gap_bytes).unwrap_or(u32::MAX));
        *offset += gap_bytes;
        self.missing_bytes += gap_bytes;
        self.tls = TlsWalk::Lost;
        self.scanner.gap();
    }
}

fn after_ssl_request(payload: &[u8]) -> &[u8] {
    match payload.split_at_checked(SSL_REQUEST_BYTES) {
        Some(([0x20, 0, 0, 1, request @ ..], rest)) if wire::SslRequest::parse(request).is_ok() => rest,
        _ => payload,
    }
}

impl TlsWalk {
    fn at_header() -> Self {
        Self::InHeader { header: [0; wire::tls::RECORD_HEADER_BYTES], have_bytes: 0 }
    }

    /// Follows the chain through `piece`; says how many of its bytes lie in records.
    fn feed(&mut self, piece: &[u8], starts_segment: bool) -> u64 {
        let mut rest = piece;
        if matches!(self, Self::Lost) && starts_segment {
            let begin = after_ssl_request(piece);
            if classify_segment(begin) != SegmentShape::NotTls {
                rest = begin;
                *self = Self::at_header();
            }
        }
        let mut counted_bytes = 0;
        while !rest.is_empty() {
            match self {
                Self::Lost => return counted_bytes,
                Self::InRecord { left_bytes } => {
                    let (in_record, tail) = rest.split_at(rest.len().min(*left_bytes));
                    *left_bytes -= in_record.len();
                    counted_bytes += in_record.len() as u64;
                    rest = tail;
                    if *left_bytes == 0 {
                        *self = Self::at_header();
                    }
                }
                Self::InHeader { header, have_bytes } => {
                    let room = header.get_mut(*have_bytes..).unwrap_or_default();
                    let (head, tail) = rest.split_at(rest.len().min(room.len()));
                    for (to, from) in room.iter_mut().zip(head) {
                        *to = *from;
                    }
                    *have_bytes += head.len();
                    if *have_bytes == header.len() {
                        let Some((_, _, length)) = wire::tls::record_header(*header) else {
                            *self = Self::Lost;
                            return counted_bytes;
                        };
                        *self = match usize::from(length) {
                            0 => Self::at_header(),
                            left_bytes => Self::InRecord { left_bytes },
                        };
                    }
                    counted_bytes += head.len() as u64;
                    rest = tail;
                }
            }
        }
        counted_bytes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::Canary;
    use proptest::prelude::*;

    const START: u32 = u32::MAX - 20; // The sequence number wraps within the first bytes.

    fn stream() -> Stream {
        let mut stream = Stream::default();
        assert!(stream.syn(START.wrapping_sub(1)));
        stream
    }

    fn canaries(stream: &Stream) -> u64 {
        stream.scanner.counts().values().sum()
    }

    fn text() -> Vec<u8> {
        format!("INSERT INTO t VALUES ('{}')", Canary::new([7; 16]).token()).into_bytes()
    }

    #[test]
    fn puts_segments_in_order_and_finds_a_canary_split_over_them() {
        let (text, mut scratch) = (text(), Vec::new());
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let mut stream = stream();
            for part in order {
                let piece = text.chunks(17).nth(part).unwrap();
                stream.payload(START.wrapping_add(u32::try_from(part * 17).unwrap()), piece, 0, &mut scratch);
            }
            assert_eq!(
                (canaries(&stream), stream.bytes, stream.missing_bytes),
                (1, text.len() as u64, 0),
                "{order:?}"
            );
            assert_eq!((stream.segments, stream.waiting_bytes()), (3, 0));
        }
    }

    #[test]
    fn retransmissions_and_overlaps_count_once() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), stream());
        stream.payload(START, &text[..30], 0, &mut scratch);
        stream.payload(START, &text[..30], 0, &mut scratch);
        stream.payload(START.wrapping_add(10), &text[10..40], 0, &mut scratch);
        stream.payload(START.wrapping_add(35), &text[35..], 0, &mut scratch);
        stream.payload(START, &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.bytes, stream.segments), (1, text.len() as u64, 3));
    }

    #[test]
    fn a_stream_joined_in_the_middle_has_no_start_and_loses_nothing_after_it() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), Stream::default());
        stream.payload(1_000_000, &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.saw_start, stream.missing_bytes), (1, false, 0));
    }

    #[test]
    fn a_gap_that_never_closes_is_counted_and_what_follows_is_still_read() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), stream());
        stream.payload(START.wrapping_add(100), &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.missing_bytes), (0, 0));
        stream.finish(&mut scratch);
        assert_eq!((canaries(&stream), stream.missing_bytes, stream.bytes), (1, 100, text.len() as u64));
        assert_eq!(stream.scanner.evidence().unwrap().stream_offset, 100 + 23);
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        for part in 0..200_u32 {
            stream.payload(START.wrapping_add(1 + part * 50_000), &vec![b'x'; 50_000], 0, &mut scratch);
            assert!(stream.waiting_bytes() <= OUT_OF_ORDER_BYTES_MAX);
        }
        assert_eq!((stream.missing_bytes, stream.bytes), (1, 200 * 50_000));
    }

    #[test]
    fn bytes_cut_from_a_packet_are_missing() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 7, &mut scratch);
        stream.payload(START.wrapping_add(10), b"def", 9, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.bytes, stream.missing_bytes), (6, 7 + 9));
    }

    #[test]
    fn an_end_that_lies_beyond_what_we_saw_tells_of_missing_bytes() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.payload(START.wrapping_add(50), b"", 0, &mut scratch);
        assert_eq!(stream.missing_bytes, 0, "it may still come");
        stream.finish(&mut scratch);
        assert_eq!((stream.bytes, stream.missing_bytes), (3, 47));
    }

    #[test]
    fn a_fin_is_no_missing_byte() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.fin(START.wrapping_add(3));
        stream.payload(START.wrapping_add(4), b"", 0, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.bytes, stream.missing_bytes), (3, 0));
    }

    #[test]
    fn a_connection_whose_start_was_missed_is_read_and_told_as_incomplete() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.payload(START.wrapping_sub(1 << 30), &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.missing_bytes), (1, 1));
    }

    #[test]
    fn a_keepalive_before_the_first_payload_is_no_gap() {
        let (mut scratch, mut stream) = (Vec::new(), Stream::default());
        stream.payload(499, b"", 0, &mut scratch);
        stream.payload(500, b"abc", 0, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.bytes, stream.missing_bytes), (3, 0));
    }

    #[test]
    fn another_syn_is_another_connection() {
        let mut stream = stream();
        assert!(stream.syn(START.wrapping_sub(1)), "sent again");
        assert!(!stream.syn(12345));
    }

    fn records() -> Vec<u8> {
        let mut out = b"\x16\x03\x01\x00\x0a\x01\x00\x00\x06\x03\x03abcd".to_vec();
        out.extend_from_slice(b"\x17\x03\x03\x40\x00");
        out.extend(std::iter::repeat_n(9, 0x4000));
        out.extend_from_slice(b"\x17\x03\x03\x00\x03abc");
        out
    }

    #[test]
    fn follows_tls_records_over_segments_that_do_not_begin_with_one() {
        let (records, mut scratch) = (records(), Vec::new());
        for step in [1448, 37, 20_000] {
            let mut stream = stream();
            for (part, piece) in records.chunks(step).enumerate() {
                let sequence = START.wrapping_add(u32::try_from(part * step).unwrap());
                stream.payload(sequence, piece, 0, &mut scratch);
            }
            assert_eq!(
                (stream.tls_bytes, stream.bytes),
                (records.len() as u64, records.len() as u64),
                "{step}"
            );
            assert!(stream.client_hello && stream.tls_segments >= 1);
        }
    }

    #[test]
    fn a_client_hello_behind_an_ssl_request_is_seen() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        let mut payload = vec![0x20, 0, 0, 1, 0, 0xaa, 0, 0];
        payload.resize(SSL_REQUEST_BYTES, 0);
        payload.extend_from_slice(&records());
        stream.payload(START, &payload, 0, &mut scratch);
        assert!(stream.client_hello);
        assert_eq!(stream.tls_bytes, records().len() as u64);
    }

    #[test]
    fn clear_bytes_after_tls_are_not_counted_as_tls() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        let records = records();
        stream.payload(START, &records, 0, &mut scratch);
        let after = START.wrapping_add(u32::try_from(records.len()).unwrap());
        stream.payload(after, b"SELECT secret FROM t", 0, &mut scratch);
        assert_eq!((stream.tls_bytes, stream.bytes), (records.len() as u64, records.len() as u64 + 20));
    }

    proptest! {
        #[test]
        fn any_order_with_repeats_gives_the_same_stream(
            length in 1_usize..600,
            cuts in proptest::collection::vec((0_usize..600, 1_usize..80), 0..40),
            canary_at in 0_usize..500,
        ) {
            let mut text = vec![b'.'; length];
            let token = Canary::new([1; 16]);
            text.splice(canary_at.min(length)..canary_at.min(length), token.token().bytes());
            let (mut scratch, mut stream) = (Vec::new(), stream());
            for (from, count) in cuts {
                let from = from.min(text.len() - 1);
                let piece = &text[from..(from + count).min(text.len())];
                stream.payload(START.wrapping_add(u32::try_from(from).unwrap()), piece, 0, &mut scratch);
            }
            // At last everything is sent again, in pieces: no byte stays missing.
            for (part, piece) in text.chunks(50).enumerate() {
                stream.payload(START.wrapping_add(u32::try_from(part * 50).unwrap()), piece, 0, &mut scratch);
            }
            stream.finish(&mut scratch);
            prop_assert_eq!(stream.bytes, text.len() as u64);
            prop_assert_eq!(stream.missing_bytes, 0);
            prop_assert_eq!(canaries(&stream), 1);
        }

        #[test]
        fn no_segments_panic(
            segments in proptest::collection::vec(
                (any::<u32>(), proptest::collection::vec(any::<u8>(), 0..60), 0_usize..9, any::<bool>()), 0..60),
        ) {
            let (mut scratch, mut stream) = (Vec::new(), Stream::default());
            for (sequence, payload, cut_bytes, syn) in segments {
                if syn {
                    stream.syn(sequence);
                }
                stream.payload(sequence, &payload, cut_bytes, &mut scratch);
            }
            stream.finish(&mut scratch);
        }
    }
}

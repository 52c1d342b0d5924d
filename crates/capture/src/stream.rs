//! One direction of a TCP connection: what passed, how much of it in TLS records, and the canaries in it.

use wire::tls::CONTENT_APPLICATION_DATA;
use wire::{SegmentShape, classify_segment, is_mysql_segment, starts_with_client_hello};

use crate::agreed::Agreed;
use crate::canary::Scanner;
use crate::no_session::Kept;
use crate::order::{Order, Sink};
use crate::tls_walk::{TlsWalk, after_ssl_request};

pub use crate::order::OUT_OF_ORDER_BYTES_MAX;

/// Counters and the scanner of one direction.
#[derive(Debug, Default)]
pub struct Stream {
    order: Order,
    pub seen: Seen,
}

/// What passed in one direction.
#[derive(Debug, Default)]
pub struct Seen {
    pub bytes: u64,
    pub segments: u64,
    pub tls_segments: u64,
    pub tls_bytes: u64,
    pub before_tls_bytes: u64,
    pub after_tls_bytes: u64,
    pub mysql_segments: u64,
    pub client_hello: bool,
    /// It is one of sealion's.
    pub is_sealions: bool,
    /// What the server of it has agreed to, by its ServerHello.
    pub agreed: Option<Agreed>,
    pub missing_bytes: u64,
    /// The longest record of application data, which all that is encrypted in TLS 1.3 is called.
    pub longest_encrypted_bytes: u16,
    /// What was counted as before TLS and after it.
    pub before_tls: Kept,
    pub after_tls: Kept,
    tls: TlsWalk,
    pub scanner: Scanner,
}

/// Memory to work in comes from the caller: one for all streams.
struct Counting<'a> {
    seen: &'a mut Seen,
    scratch: &'a mut Vec<u8>,
}

impl Sink for Counting<'_> {
    fn segment(&mut self, payload: &[u8], is_whole: bool) {
        self.seen.segments += 1;
        if is_whole {
            self.seen.tls_segments += u64::from(classify_segment(payload) != SegmentShape::NotTls);
            if self.seen.agreed.is_none() && self.seen.tls_bytes == 0 {
                self.seen.agreed = Agreed::in_segment(payload);
            }
            let after_request = after_ssl_request(payload);
            if !self.seen.client_hello && starts_with_client_hello(after_request) {
                self.seen.client_hello = true;
                self.seen.is_sealions = wire::tls::mark::is_marked(after_request);
            }
            self.seen.mysql_segments += u64::from(self.seen.tls_bytes == 0 && is_mysql_segment(payload));
        }
    }

    fn piece(&mut self, piece: &[u8], stream_offset: u64, starts_segment: bool) {
        let length = piece.len() as u64;
        let longest = &mut self.seen.longest_encrypted_bytes;
        let in_records = self.seen.tls.feed_telling(piece, starts_segment, &mut |content_type, bytes| {
            if content_type == CONTENT_APPLICATION_DATA {
                *longest = bytes.max(*longest);
            }
        });
        self.seen.bytes += length;
        let outside = length.saturating_sub(in_records);
        let kept =
            if self.seen.tls_bytes == 0 { &mut self.seen.before_tls } else { &mut self.seen.after_tls };
        match usize::try_from(outside).ok().filter(|outside| *outside > 0) {
            None => {}
            // Records end here, and what follows is none.
            Some(outside) if matches!(self.seen.tls, TlsWalk::Lost) => {
                kept.push(piece.get(piece.len().saturating_sub(outside)..).unwrap_or_default());
            }
            // They begin in this piece.
            Some(outside) => kept.push(piece.get(..outside).unwrap_or_default()),
        }
        // The chain begins in this piece, or has not begun: what is outside of it lies before it.
        if self.seen.tls_bytes == 0 {
            self.seen.before_tls_bytes += outside;
        } else if self.seen.missing_bytes == 0 {
            self.seen.after_tls_bytes += outside;
        }
        self.seen.tls_bytes += in_records;
        self.seen.scanner.feed(piece, stream_offset, self.scratch);
    }

    fn gap(&mut self, missing_bytes: u64) {
        self.seen.missing_bytes += missing_bytes;
        self.seen.tls = TlsWalk::Lost;
        self.seen.scanner.gap();
    }
}

impl Stream {
    /// See [`Order::syn`].
    pub fn syn(&mut self, sequence: u32) -> bool {
        self.order.syn(sequence)
    }

    /// See [`Order::payload`].
    pub fn payload(&mut self, sequence: u32, payload: &[u8], cut_bytes: usize, scratch: &mut Vec<u8>) {
        self.order.payload(sequence, payload, cut_bytes, &mut Counting { seen: &mut self.seen, scratch });
    }

    /// See [`Order::fin`].
    pub fn fin(&mut self, sequence: u32) {
        self.order.fin(sequence);
    }

    /// See [`Order::finish`].
    pub fn finish(&mut self, scratch: &mut Vec<u8>) {
        self.order.finish(&mut Counting { seen: &mut self.seen, scratch });
    }

    pub fn waiting_bytes(&self) -> usize {
        self.order.waiting_bytes()
    }

    pub fn saw_start(&self) -> bool {
        self.order.saw_start()
    }

    /// It was closed, and seen to its end.
    pub fn is_over(&self) -> bool {
        self.order.is_over()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::Canary;
    use crate::tls_walk::SSL_REQUEST_BYTES;
    use proptest::prelude::*;

    const START: u32 = u32::MAX - 20; // The sequence number wraps within the first bytes.

    fn stream() -> Stream {
        let mut stream = Stream::default();
        assert!(stream.syn(START.wrapping_sub(1)));
        stream
    }

    fn canaries(stream: &Stream) -> u64 {
        stream.seen.scanner.counts().values().sum()
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
                (canaries(&stream), stream.seen.bytes, stream.seen.missing_bytes),
                (1, text.len() as u64, 0),
                "{order:?}"
            );
            assert_eq!((stream.seen.segments, stream.waiting_bytes()), (3, 0));
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
        assert_eq!((canaries(&stream), stream.seen.bytes, stream.seen.segments), (1, text.len() as u64, 3));
    }

    #[test]
    fn a_stream_joined_in_the_middle_has_no_start_and_loses_nothing_after_it() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), Stream::default());
        stream.payload(1_000_000, &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.saw_start(), stream.seen.missing_bytes), (1, false, 0));
    }

    #[test]
    fn a_gap_that_never_closes_is_counted_and_what_follows_is_still_read() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), stream());
        stream.payload(START.wrapping_add(100), &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.seen.missing_bytes), (0, 0));
        stream.finish(&mut scratch);
        assert_eq!(
            (canaries(&stream), stream.seen.missing_bytes, stream.seen.bytes),
            (1, 100, text.len() as u64)
        );
        assert_eq!(stream.seen.scanner.evidence().unwrap().stream_offset, 100 + 23);
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        for part in 0..200_u32 {
            stream.payload(START.wrapping_add(1 + part * 50_000), &vec![b'x'; 50_000], 0, &mut scratch);
            assert!(stream.waiting_bytes() <= OUT_OF_ORDER_BYTES_MAX);
        }
        assert_eq!((stream.seen.missing_bytes, stream.seen.bytes), (1, 200 * 50_000));
    }

    #[test]
    fn bytes_cut_from_a_packet_are_missing() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 7, &mut scratch);
        stream.payload(START.wrapping_add(10), b"def", 9, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.seen.bytes, stream.seen.missing_bytes), (6, 7 + 9));
    }

    #[test]
    fn an_end_that_lies_beyond_what_we_saw_tells_of_missing_bytes() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.payload(START.wrapping_add(50), b"", 0, &mut scratch);
        assert_eq!(stream.seen.missing_bytes, 0, "it may still come");
        stream.finish(&mut scratch);
        assert_eq!((stream.seen.bytes, stream.seen.missing_bytes), (3, 47));
    }

    #[test]
    fn a_fin_is_no_missing_byte() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.fin(START.wrapping_add(3));
        stream.payload(START.wrapping_add(4), b"", 0, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.seen.bytes, stream.seen.missing_bytes), (3, 0));
    }

    #[test]
    fn a_connection_whose_start_was_missed_is_read_and_told_as_incomplete() {
        let (text, mut scratch, mut stream) = (text(), Vec::new(), stream());
        stream.payload(START, b"abc", 0, &mut scratch);
        stream.payload(START.wrapping_sub(1 << 30), &text, 0, &mut scratch);
        assert_eq!((canaries(&stream), stream.seen.missing_bytes), (1, 1));
    }

    #[test]
    fn a_keepalive_before_the_first_payload_is_no_gap() {
        let (mut scratch, mut stream) = (Vec::new(), Stream::default());
        stream.payload(499, b"", 0, &mut scratch);
        stream.payload(500, b"abc", 0, &mut scratch);
        stream.finish(&mut scratch);
        assert_eq!((stream.seen.bytes, stream.seen.missing_bytes), (3, 0));
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
                (stream.seen.tls_bytes, stream.seen.bytes),
                (records.len() as u64, records.len() as u64),
                "{step}"
            );
            assert!(stream.seen.client_hello && stream.seen.tls_segments >= 1);
        }
    }

    #[test]
    fn a_client_hello_behind_an_ssl_request_is_seen() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        let mut payload = vec![0x20, 0, 0, 1, 0, 0xaa, 0, 0];
        payload.resize(SSL_REQUEST_BYTES, 0);
        payload.extend_from_slice(&records());
        stream.payload(START, &payload, 0, &mut scratch);
        assert!(stream.seen.client_hello);
        assert_eq!(stream.seen.tls_bytes, records().len() as u64);
    }

    #[test]
    fn clear_bytes_after_tls_are_not_counted_as_tls() {
        let (mut scratch, mut stream) = (Vec::new(), stream());
        let records = records();
        stream.payload(START, &records, 0, &mut scratch);
        let after = START.wrapping_add(u32::try_from(records.len()).unwrap());
        stream.payload(after, b"SELECT secret FROM t", 0, &mut scratch);
        assert_eq!(
            (stream.seen.tls_bytes, stream.seen.bytes),
            (records.len() as u64, records.len() as u64 + 20)
        );
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
            prop_assert_eq!(stream.seen.bytes, text.len() as u64);
            prop_assert_eq!(stream.seen.missing_bytes, 0);
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

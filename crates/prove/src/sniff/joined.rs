//! Bytes of one end that were joined in the middle: records of TLS, or something in clear?
//!
//! One header of a record is no proof: a packet of MySQL that is 197,399 bytes long begins as a record does. Two in a row are
//! one, and so is a record that ends where its segment ends. In clear is what is packets of MySQL to the last byte of a
//! segment, what is so long that a header must have passed, and what is mostly text. Of anything else nothing is said.

use capture::tls_walk::TlsWalk;
use wire::tls::{CONTENT_APPLICATION_DATA, RECORD_BYTES_MAX, RECORD_HEADER_BYTES, record_header};

/// So many bytes in a row hold the headers of two records at least, also where chance has misled the search once.
const CERTAIN_BYTES: u64 = 3 * (RECORD_BYTES_MAX as u64 + RECORD_HEADER_BYTES as u64);
/// Source: RFC 8446 section 5.2: the content type and a tag of 16 bytes. TLS 1.2 has more.
const SEALED_BYTES_MIN: u16 = 17;
/// Of so many bytes it is counted what they look like.
const SAMPLE_BYTES: std::ops::RangeInclusive<u64> = 64..=4096;
/// Text and zeros are 38% of what is encrypted. Of 64 bytes, so many are 4.5 standard deviations above it.
const TEXT_PERCENT_MIN: u64 = 65;
/// Fits in a row that are no chance.
const FITS_MIN: u8 = 2;

/// A chain of records, as far as it was followed.
#[derive(Debug)]
pub struct Chain {
    /// How many bytes of this end came before it.
    pub from: u64,
    pub walk: TlsWalk,
    fits: u8,
}

/// What the bytes of one end were taken for so far.
#[derive(Debug, Default)]
pub struct Joined {
    chain: Option<Chain>,
    /// Without a gap.
    in_row_bytes: u64,
    sampled_bytes: u64,
    text_bytes: u64,
    is_clear: bool,
}

/// A ClientHello or ServerHello, or the alert in place of one, as far as it is there: no packet of MySQL looks so.
pub fn begins_with_hello(segment: &[u8]) -> bool {
    let Some((header, body)) = segment.split_first_chunk::<RECORD_HEADER_BYTES>() else { return false };
    let Some((content_type, _, length)) = record_header(*header) else { return false };
    match (content_type, body) {
        (wire::tls::CONTENT_ALERT, [1 | 2, _]) => length == 2,
        // Type, length in 24 bits, version.
        (wire::tls::CONTENT_HANDSHAKE, [1 | 2, rest @ ..]) => match rest {
            [0, _, _, major, minor, ..] => (*major, *minor) >= (3, 0) && (*major, *minor) <= (3, 4),
            [high, ..] => *high == 0,
            [] => true,
        },
        _ => false,
    }
}

/// The header of a record whose length is plausible for what is encrypted.
fn fits(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() else { return false };
    record_header(*header).is_some_and(|(content_type, _, length)| {
        content_type != CONTENT_APPLICATION_DATA || length >= SEALED_BYTES_MIN
    })
}

/// Is the segment packets of MySQL to its last byte?
fn is_packets(mut segment: &[u8]) -> bool {
    if segment.is_empty() {
        return false;
    }
    while let Some(([a, b, c, _], rest)) = segment.split_first_chunk::<4>() {
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let Some(next) = rest.get(length..).filter(|_| length > 0) else { return false };
        segment = next;
    }
    segment.is_empty()
}

impl Joined {
    /// Takes the next bytes, `before` of which came. `Some`: they are TLS.
    pub fn feed(&mut self, piece: &[u8], before: u64, starts_segment: bool) -> Option<Chain> {
        self.sample(piece);
        if self.is_clear {
            return None;
        }
        self.in_row_bytes += piece.len() as u64;
        if self.chain.is_none() && starts_segment && is_packets(piece) {
            self.is_clear = true;
            return None;
        }
        let mut at = 0;
        loop {
            if self.chain.is_none() {
                let rest = piece.get(at..).unwrap_or_default();
                let Some(found) = find(rest, starts_segment && at == 0) else { break };
                at += found;
                let from = before + at as u64;
                self.chain = Some(Chain { from, walk: TlsWalk::at_header(), fits: 0 });
            }
            let Some(chain) = &mut self.chain else { break };
            at += chain.follow(piece.get(at..).unwrap_or_default());
            if !matches!(chain.walk, TlsWalk::Lost) {
                break;
            }
            self.chain = None;
        }
        if self.chain.is_none() && self.in_row_bytes > CERTAIN_BYTES {
            self.is_clear = true;
        }
        self.chain.take_if(|chain| chain.fits >= FITS_MIN)
    }

    /// Only what the bytes look like.
    pub fn sample(&mut self, piece: &[u8]) {
        let room = SAMPLE_BYTES.end().saturating_sub(self.sampled_bytes);
        if room == 0 {
            return;
        }
        let sample = piece.get(..usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or(piece);
        let is_text = |byte: &&u8| matches!(**byte, 0 | b'\t' | b'\n' | b'\r' | b' '..=b'~');
        self.sampled_bytes += sample.len() as u64;
        self.text_bytes += sample.iter().filter(is_text).count() as u64;
    }

    /// Bytes are missing.
    pub fn gap(&mut self) {
        self.chain = None;
        self.in_row_bytes = 0;
    }

    /// A record has begun, and nothing has confirmed it yet.
    pub fn is_on_a_record(&self) -> bool {
        self.chain.is_some()
    }

    pub fn take_chain(&mut self) -> Option<Chain> {
        self.chain.take()
    }

    /// Nothing else is possible, or likely.
    pub fn is_clear(&self) -> bool {
        let looks_like_text = self.sampled_bytes >= *SAMPLE_BYTES.start()
            && self.text_bytes * 100 >= self.sampled_bytes * TEXT_PERCENT_MIN;
        self.is_clear || (self.chain.is_none() && looks_like_text)
    }
}

impl Chain {
    /// Follows the records; says how many bytes it took. Behind a header that does not fit the walk is lost.
    fn follow(&mut self, piece: &[u8]) -> usize {
        let mut rest = piece;
        while !rest.is_empty() {
            let (count, is_header) = match &self.walk {
                TlsWalk::Lost => break,
                TlsWalk::InRecord { left_bytes } => (*left_bytes, false),
                TlsWalk::InHeader { have_bytes, .. } => (RECORD_HEADER_BYTES - have_bytes, true),
            };
            let is_all = count <= rest.len();
            let (now, later) = rest.split_at(count.min(rest.len()));
            self.walk.feed(now, false);
            rest = later;
            let is_fit = is_all && (is_header || rest.is_empty()) && !matches!(self.walk, TlsWalk::Lost);
            self.fits = self.fits.saturating_add(u8::from(is_fit));
        }
        piece.len() - rest.len()
    }
}

/// Where a record may begin. A header that two segments share is not found: the next one is.
fn find(bytes: &[u8], starts_segment: bool) -> Option<usize> {
    if starts_segment && fits(bytes) {
        return Some(0);
    }
    memchr::memmem::find_iter(bytes, &[CONTENT_APPLICATION_DATA, 3])
        .find(|at| bytes.get(*at..).is_some_and(fits))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What cannot be told from encrypted bytes, and is the same each time.
    pub fn noise(bytes: usize, mut seed: u32) -> Vec<u8> {
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            (seed >> 11 & 0xff) as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    fn record(bytes: u16) -> Vec<u8> {
        let length = bytes.to_be_bytes();
        [&[0x17, 3, 3, length[0], length[1]][..], &noise(usize::from(bytes), u32::from(bytes) + 1)].concat()
    }

    /// Where TLS was found to begin, if it was, and whether it is surely in clear.
    fn taken_for(bytes: &[u8], step: usize) -> (Option<u64>, bool) {
        let (mut joined, mut before) = (Joined::default(), 0);
        for piece in bytes.chunks(step) {
            if let Some(chain) = joined.feed(piece, before, true) {
                return (Some(chain.from), joined.is_clear());
            }
            before += piece.len() as u64;
        }
        (None, joined.is_clear())
    }

    #[test]
    fn two_records_in_a_row_are_tls_wherever_the_capture_begins() {
        let stream = [record(16_400), record(16_400), record(16_400)].concat();
        for begin in [0, 1, 700, 5000, 16_404] {
            let left = (16_405 - begin as u64) % 16_405;
            assert_eq!(taken_for(&stream[begin..], 1448), (Some(left), false), "{begin}");
        }
        // A record that is a segment needs no second.
        assert_eq!(taken_for(&record(80), 1448), (Some(0), false));
        assert_eq!(taken_for(&record(80)[..60], 1448), (None, false), "it has not ended");
    }

    #[test]
    fn one_header_that_fits_is_not_tls() {
        let row = [&[0x17, 3, 3, 6, 0xfd, 0x10, 3, 3][..], &vec![b'A'; 197_000]].concat();
        assert_eq!(taken_for(&row, 1400), (None, true));
        assert_eq!(taken_for(&row[..1400], 1400), (None, false), "a record may have begun");
    }

    #[test]
    fn what_is_in_clear_is_told_from_what_is_not_known() {
        assert_eq!(taken_for(&noise(20_000, 7), 1448), (None, false));
        assert_eq!(taken_for(&noise(60_000, 7), 1448), (None, true), "longer than any record");
        assert_eq!(taken_for(b"\x05\0\0\x07\x04\xff\xfe\x80\x90\x01\0\0\x08\xfe", 1448), (None, true));
        assert_eq!(taken_for(&b"\x04name\x0bsomebody\x00".repeat(9), 1448), (None, true));
        assert_eq!(taken_for(b"short", 1448), (None, false));
    }

    #[test]
    fn a_hello_is_known_by_its_first_bytes() {
        assert!(begins_with_hello(&[0x16, 3, 1, 2, 0, 1]));
        assert!(begins_with_hello(&[0x16, 3, 3, 0, 0x30, 2, 0, 0, 0x2c, 3, 3]));
        assert!(begins_with_hello(&[0x15, 3, 3, 0, 2, 2, 40]));
        for other in
            [&[0x16, 3, 1, 2, 0][..], &[0x17, 3, 3, 0, 1, 1], &[0x16, 3, 1, 2, 0, 1, 9], b"\x16\0\0\x01ab"]
        {
            assert!(!begins_with_hello(other), "{other:x?}");
        }
    }

    proptest! {
        #[test]
        fn records_are_found_however_they_are_cut(
            lengths in proptest::collection::vec(17_u16..3000, 4..12), skip in 0_usize..3000, step in 20_usize..2000,
        ) {
            let stream: Vec<u8> = lengths.iter().flat_map(|bytes| record(*bytes)).collect();
            let (found, is_clear) = taken_for(stream.get(skip.min(usize::from(lengths[0]))..).unwrap(), step);
            prop_assert!(!is_clear);
            prop_assert!(found.is_some() || step < 3000);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), step in 1_usize..60) {
            let _ = taken_for(&bytes, step);
        }
    }
}

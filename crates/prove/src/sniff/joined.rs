//! Bytes of one end that were joined in the middle: records of TLS, or something in clear?
//!
//! One header of a record is no proof: a packet of MySQL that is 197,399 bytes long begins as a record does. Two in a row are
//! one, and so is a record that ends where its segment ends, unless what is in them is not encrypted: whoever chooses what a
//! statement holds can write headers into it. In clear is what is packets of MySQL to the last byte of a segment, what is so
//! long that a header must have passed, and what is text, between records or in them. Of anything else nothing is said.

use capture::tls_walk::TlsWalk;
use wire::tls::{CONTENT_APPLICATION_DATA, RECORD_BYTES_MAX, RECORD_HEADER_BYTES, record_header};

use super::content::{Look, Sample};

/// So many bytes in a row hold the headers of two records at least, also where chance has misled the search once.
const CERTAIN_BYTES: u64 = 3 * (RECORD_BYTES_MAX as u64 + RECORD_HEADER_BYTES as u64);
/// Source: RFC 8446 section 5.2: the content type and a tag of 16 bytes. TLS 1.2 has more.
const SEALED_BYTES_MIN: u16 = 17;
/// Source: RFC 5288 section 3: with GCM in TLS 1.2 a record begins with a nonce of 8 bytes, which is mostly a counter.
const NONCE_BYTES: usize = 8;
/// Of so many bytes of a record that come together, the first are counted: all of them would cost more than the rest.
const COUNTED_PARTS_BYTES: usize = 1024;
const COUNTED_BYTES: usize = 16;
/// The same until the first judgement, on which it hangs whether it is a chain.
const COUNTED_AT_FIRST_BYTES: usize = 256;
/// Fits in a row that are no chance.
const FITS_MIN: u8 = 2;

/// What the records of a chain hold, as far as it was looked at: application data only, which is encrypted with every suite
/// that is one. Handshakes hold certificates, and those are no secret.
#[derive(Debug, Default)]
pub struct Contents {
    is_data: bool,
    /// Of the record that is passing.
    seen_bytes: usize,
    /// Of several records, where they are short.
    sample: Sample,
    is_judged: bool,
    /// Bytes since the last judgement.
    waiting_bytes: u64,
    /// Bytes of records that hold text.
    pub text_bytes: u64,
    /// Something was in a record that no cipher puts out.
    pub is_uneven: bool,
}

impl Contents {
    fn begin(&mut self, content_type: u8) {
        self.is_data = content_type == CONTENT_APPLICATION_DATA;
        self.seen_bytes = 0;
    }

    fn add(&mut self, piece: &[u8], is_end: bool) {
        if !self.is_data {
            return;
        }
        let nonce_bytes = NONCE_BYTES.saturating_sub(self.seen_bytes).min(piece.len());
        self.seen_bytes += piece.len();
        self.waiting_bytes += piece.len() as u64;
        let behind_nonce = piece.get(nonce_bytes..).unwrap_or_default();
        let counted_bytes = if self.is_judged { COUNTED_BYTES } else { COUNTED_AT_FIRST_BYTES };
        for part in behind_nonce.chunks(COUNTED_PARTS_BYTES) {
            self.sample.add(part.get(..counted_bytes).unwrap_or(part));
        }
        if is_end || self.sample.is_full() {
            self.judge();
        }
    }

    /// Begins a new sample, if this one was enough.
    fn judge(&mut self) {
        match self.sample.look() {
            Look::TooFew => return,
            Look::Even => {}
            Look::Text => self.text_bytes += self.waiting_bytes,
            Look::Uneven => self.is_uneven = true,
        }
        self.sample = Sample::default();
        self.is_judged = true;
        self.waiting_bytes = 0;
    }

    /// It may be what a cipher put out, as far as can be told until now.
    fn may_be_sealed(&self) -> bool {
        self.text_bytes == 0
            && !self.is_uneven
            && matches!(self.sample.look(), Look::TooFew | Look::Even)
            && !self.sample.may_be_text()
    }
}

/// A chain of records, as far as it was followed.
#[derive(Debug)]
pub struct Chain {
    /// How many bytes of this end came before it.
    pub from: u64,
    /// So many bytes lie in it.
    pub bytes: u64,
    walk: TlsWalk,
    fits: u8,
    contents: Contents,
}

/// What the bytes of one end were taken for so far.
#[derive(Debug, Default)]
pub struct Joined {
    chain: Option<Chain>,
    /// Without a gap.
    in_row_bytes: u64,
    /// What lies in no chain.
    outside: Sample,
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
    /// Takes the next bytes, `before` of which came. `Some`: they are TLS. Where the chain is lost again, what follows it
    /// was not looked at.
    pub fn feed(&mut self, piece: &[u8], before: u64, starts_segment: bool) -> Option<Chain> {
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
                let found = find(rest, starts_segment && at == 0);
                self.outside.add(found.and_then(|found| rest.get(..found)).unwrap_or(rest));
                let Some(found) = found else { break };
                at += found;
                self.chain = Some(Chain::from(before + at as u64, 0));
            }
            let Some(chain) = &mut self.chain else { break };
            at += chain.follow(piece.get(at..).unwrap_or_default());
            if chain.contents.text_bytes > 0 || chain.contents.sample.is_text() {
                // Whoever reads along reads this, whatever the header before it says.
                self.is_clear = true;
                self.chain = None;
                return None;
            }
            if chain.is_confirmed() && chain.contents.may_be_sealed() {
                return self.chain.take();
            }
            if !chain.is_lost() {
                break;
            }
            self.chain = None;
        }
        if self.chain.is_none() && self.in_row_bytes > CERTAIN_BYTES {
            self.is_clear = true;
        }
        None
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

    /// Nothing else is possible, or likely.
    pub fn is_clear(&self) -> bool {
        self.is_clear || self.outside.is_text()
    }
}

impl Chain {
    fn from(from: u64, fits: u8) -> Self {
        Self { from, bytes: 0, walk: TlsWalk::at_header(), fits, contents: Contents::default() }
    }

    /// By what came before, the next byte begins a record: one header that fits is enough.
    pub fn in_step(from: u64) -> Self {
        Self::from(from, FITS_MIN - 1)
    }

    /// Follows the records; says how many bytes lie in them. Behind a header that does not fit it is lost.
    pub fn follow(&mut self, piece: &[u8]) -> usize {
        let mut rest = piece;
        while !rest.is_empty() {
            let (count, is_header) = match &self.walk {
                TlsWalk::Lost => break,
                TlsWalk::InRecord { left_bytes } => (*left_bytes, false),
                TlsWalk::InHeader { have_bytes, .. } => (RECORD_HEADER_BYTES - have_bytes, true),
            };
            let is_all = count <= rest.len();
            let (now, later) = rest.split_at(count.min(rest.len()));
            let Self { walk, contents, .. } = self;
            walk.feed_telling(now, false, &mut |content_type, _| contents.begin(content_type));
            if matches!(walk, TlsWalk::Lost) {
                break;
            }
            if !is_header {
                contents.add(now, is_all);
            }
            rest = later;
            let is_fit = is_all && (is_header || rest.is_empty());
            self.fits = self.fits.saturating_add(u8::from(is_fit));
        }
        let in_records = piece.len() - rest.len();
        self.bytes += in_records as u64;
        in_records
    }

    /// Nothing of it has come yet.
    pub fn is_awaited(&self) -> bool {
        matches!(self.walk, TlsWalk::InHeader { have_bytes: 0, .. }) && self.bytes == 0
    }

    pub fn is_lost(&self) -> bool {
        matches!(self.walk, TlsWalk::Lost)
    }

    /// Chance makes no such chain.
    pub fn is_confirmed(&self) -> bool {
        self.fits >= FITS_MIN
    }

    /// What was in it. Nothing more will come.
    pub fn end(mut self) -> Contents {
        self.contents.judge();
        self.contents
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
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What cannot be determined from encrypted bytes, and is the same each time.
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
        assert_eq!(taken_for(&row[..1400], 1400), (None, true), "text, whatever its header says");
        let numbers: Vec<u8> = (0x80..0xa0).cycle().take(1392).collect();
        let row = [&row[..8], &numbers].concat();
        assert_eq!(taken_for(&row, 1400), (None, false), "a record may have begun");
    }

    #[test]
    fn headers_that_somebody_wrote_into_a_packet_are_not_tls() {
        let rows = |content: &dyn Fn(usize) -> Vec<u8>| -> Vec<u8> {
            [23_u16, 16_384, 16_384, 9000]
                .iter()
                .flat_map(|length| {
                    let [high, low] = length.to_be_bytes();
                    [&[0x17, 3, 3, high, low][..], &content(usize::from(*length))].concat()
                })
                .collect()
        };
        for step in [1448, 16_389, 60_000] {
            assert_eq!(taken_for(&rows(&|length| vec![b'C'; length]), step), (None, true), "{step}");
            let text = |length| b"CLEARTEXTSECRET ".repeat(1025)[..length].to_vec();
            assert_eq!(taken_for(&rows(&text), step), (None, true), "{step}");
            // No text, and nothing that a cipher puts out either: the first record is too short to tell.
            let numbers: Vec<u8> = rows(&|length| (0x80..0xa0).cycle().take(length).collect());
            assert_eq!(taken_for(&numbers[28..], step), (None, false), "{step}");
            assert_eq!(taken_for(&rows(&|length| noise(length, 77)), step), (Some(0), false), "{step}");
        }
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

//! Does a segment of a connection that was joined in its middle speak MySQL in cleartext?
//!
//! Nobody can follow such a connection from packet to packet, so each segment is judged alone, and only where its frames
//! fit exactly: chance makes random bytes (a TLS record that was joined in its middle) fit in less than one of 2^32 segments.

use crate::packet::HEADER_BYTES;

/// Of the compressed protocol: length, sequence number, length before compression.
const COMPRESSED_HEADER_BYTES: usize = 7;
/// The highest command that a server knows. Source: MariaDB `COM_MULTI` is 0xfe, below it 0x20; MySQL `COM_END` is 0x20.
const COMMAND_MAX: u8 = 0x20;

/// Whether `segment` is made of whole MySQL packets, in cleartext or compressed, as a client or a server sends them once a
/// session is open.
pub fn is_mysql_segment(segment: &[u8]) -> bool {
    is_compressed(segment) || is_command(segment) || is_answer(segment)
}

fn frame(bytes: &[u8]) -> Option<(usize, u8, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let [low, middle, high, sequence] = *header;
    Some((usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16, sequence, rest))
}

/// One command (or several, sent without waiting), each with the sequence number 0.
fn is_command(segment: &[u8]) -> bool {
    let mut rest = segment;
    let mut count = 0;
    while !rest.is_empty() {
        let Some((length, 0, body)) = frame(rest) else { return false };
        match (body.first(), body.get(length..)) {
            (Some(&command), Some(tail)) if length > 0 && command <= COMMAND_MAX => {
                rest = tail;
                count += 1;
            }
            _ => return false,
        }
    }
    count > 0
}

/// The packets of an answer, counted on from 1; or from anywhere, where there are several of them.
fn is_answer(segment: &[u8]) -> bool {
    let Some((_, first, _)) = frame(segment) else { return false };
    let (mut rest, mut expected, mut count) = (segment, first, 0_usize);
    while !rest.is_empty() {
        let Some((length, sequence, body)) = frame(rest) else { return false };
        let Some(tail) = body.get(length..) else { return false };
        if sequence != expected || length == 0 {
            return false;
        }
        (rest, expected, count) = (tail, expected.wrapping_add(1), count + 1);
    }
    (first == 1 && count > 0) || count > 2
}

/// Frames of the compressed protocol. A payload that was not worth compressing has 0 as its length before.
fn is_compressed(segment: &[u8]) -> bool {
    let mut rest = segment;
    let mut count = 0;
    while !rest.is_empty() {
        let Some((header, body)) = rest.split_first_chunk::<COMPRESSED_HEADER_BYTES>() else { return false };
        let ([length @ .., sequence], before) = header.split_at(HEADER_BYTES) else { return false };
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (length, before) = (number(length), number(before));
        let Some((payload, tail)) = body.split_at_checked(length) else { return false };
        // zlib's header, or zstd's magic number; or plain packets inside.
        let is_sound = match before {
            0 => is_command(payload) || is_answer(payload),
            _ => {
                before > length
                    && (payload.starts_with(&[0x78]) || payload.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]))
            }
        };
        if !is_sound || *sequence > 16 {
            return false;
        }
        (rest, count) = (tail, count + 1);
    }
    count > 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        [&[length, 0, 0, sequence], payload].concat()
    }

    #[test]
    fn statements_and_their_answers_are_known_in_clear_text() {
        let query = packet(0, b"\x03SELECT secret FROM t");
        assert!(is_mysql_segment(&query));
        assert!(is_mysql_segment(&packet(0, b"\x0e")), "a ping");
        assert!(is_mysql_segment(&[query.clone(), packet(0, b"\x01")].concat()), "two commands at once");
        let ok = packet(1, &[0, 0, 0, 2, 0, 0, 0]);
        assert!(is_mysql_segment(&ok));
        let rows = [packet(1, &[1]), packet(2, b"def"), packet(3, b"\x05value"), packet(4, &[0xfe, 0, 0])];
        assert!(is_mysql_segment(&rows.concat()));
        assert!(is_mysql_segment(
            &[&[query.len().try_into().unwrap(), 0, 0, 0, 0, 0, 0], &query[..]].concat()
        ));
    }

    #[test]
    fn tls_records_and_halves_of_packets_are_not_taken_for_it() {
        assert!(!is_mysql_segment(b""));
        assert!(!is_mysql_segment(b"\x17\x03\x03\x00\x13aaaaaaaaaaaaaaaaaaa"));
        let query = packet(0, b"\x03SELECT secret FROM t");
        for cut in 0..query.len() {
            assert!(!is_mysql_segment(&query[..cut]), "{cut}");
        }
        assert!(!is_mysql_segment(&packet(7, b"alone, and of no beginning")));
    }

    proptest! {
        #[test]
        fn random_bytes_are_hardly_ever_taken_for_it(bytes in proptest::collection::vec(any::<u8>(), 64..1500)) {
            prop_assert!(!is_mysql_segment(&bytes));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            is_mysql_segment(&bytes);
        }
    }
}

//! SSL 2.0. No server of ours speaks it: the bytes are laid out by hand after the specification.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;
use wire::WireError;
use wire::tls::registry::Version;
use wire::tls::ssl2::*;

const CHALLENGE: [u8; CHALLENGE_BYTES] = [0x5e; CHALLENGE_BYTES];

fn answer(certificate: &[u8], kinds: &[u8], connection_id: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let head = [&[4, 0, 1, 0, 2][..], &length(certificate), &length(kinds), &length(connection_id)].concat();
    let body = [&head, certificate, kinds, connection_id].concat();
    let [h0, h1] = length(&body);
    [&[h0 | 0x80, h1], &body[..]].concat()
}

fn sample() -> Vec<u8> {
    answer(&[0x30; 700], &[1, 0, 0x80, 7, 0, 0xc0, 0, 0, 0x2f], &[9; 16])
}

#[test]
fn writes_a_hello_of_every_kind() {
    let mut out = Vec::new();
    client_hello(&mut out, &CHALLENGE);
    assert_eq!(out.len(), 2 + 9 + 3 * CIPHER_KINDS.len() + CHALLENGE_BYTES);
    assert_eq!(out[..11], [0x80, 61, 1, 0, 2, 0, 36, 0, 0, 0, 16]);
    assert_eq!(out[11..14], [1, 0, 0x80]);
    assert_eq!(out[out.len() - CHALLENGE_BYTES..], CHALLENGE);
}

#[test]
fn writes_a_hello_that_offers_tls() {
    let mut out = Vec::new();
    client_hello_for(&mut out, Version::TLS10, &[0x002f, 0xc014], &CHALLENGE);
    assert_eq!(out[..17], [0x80, 31, 1, 3, 1, 0, 6, 0, 0, 0, 16, 0, 0, 0x2f, 0, 0xc0, 0x14]);
    // More than a record holds: what is written is still a record.
    out.clear();
    client_hello_for(&mut out, Version::TLS10, &vec![5; 60_000], &CHALLENGE);
    assert_eq!(usize::from(u16::from_be_bytes([out[0] & 0x7f, out[1]])), out.len() - 2);
}

#[test]
fn kinds_are_sorted_unique_and_what_their_names_say() {
    assert!(CIPHER_KINDS.windows(2).all(|pair| pair[0].code < pair[1].code));
    for row in CIPHER_KINDS {
        assert_eq!(cipher_kind(row.code), Some(row));
        assert_eq!(row.is_export, row.name.contains("EXPORT40"), "{}", row.name);
        assert_eq!(row.strength_bits == 40, row.is_export, "{}", row.name);
    }
}

#[test]
fn reads_an_answer() {
    let Some(Answer::Hello(hello)) = parse_answer(&sample()).unwrap() else { panic!() };
    assert_eq!((hello.version, hello.certificate.len()), (Version::SSL2, 700));
    assert_eq!(hello.cipher_kinds, [0x01_0080, 0x07_00c0, 0x00_002f]);
    assert_eq!(hello.cipher_suites().map(|suite| suite.code).collect::<Vec<_>>(), [0x002f]);
    assert_eq!((hello.connection_id, hello.session_id_hit), (vec![9; 16], false));
    assert_eq!(parse_answer(&[0x80, 3, 0, 0, 1]), Ok(Some(Answer::Error(1))));
}

#[test]
fn every_prefix_of_an_answer_needs_more() {
    for cut in 0..sample().len() {
        assert_eq!(parse_answer(&sample()[..cut]), Ok(None), "cut at {cut}");
    }
}

#[test]
fn a_cut_answer_with_the_right_length_is_an_error() {
    let whole = sample();
    for cut in 1..whole.len() - 2 {
        let [h0, h1] = u16::try_from(cut).unwrap().to_be_bytes();
        let cut_short = [&[h0 | 0x80, h1], &whole[2..2 + cut]].concat();
        assert!(
            matches!(parse_answer(&cut_short), Ok(None) | Err(WireError::Truncated { .. })),
            "cut at {cut}"
        );
    }
}

#[test]
fn other_protocols_are_not_taken_for_it() {
    for other in [
        &b"\x15\x03\x03\x00\x02\x02\x28"[..],
        b"\x16\x00\x00\x02\xff\x13\x04#08S01",
        b"\x82\x00\x00\x02\xff\x69\x04#HY000Host is blocked",
        b"HTTP/1.1 400",
    ] {
        assert_eq!(looks_like_answer(other), Some(false));
        assert!(parse_answer(other).is_err());
    }
    assert!(parse_answer(&answer(&[], &[1, 2], &[])).is_err());
    let many = answer(&[], &[0; 3 * 1025], &[]);
    assert!(matches!(parse_answer(&many), Err(WireError::OverLimit { announced: 1025, .. })));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), length in any::<u8>()) {
        let _ = parse_answer(&bytes);
        let _ = parse_answer(&[&[0x80, length, 4], &bytes[..]].concat());
    }
}

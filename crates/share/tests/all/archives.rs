use proptest::prelude::*;
use share::chunks::SEALED_BYTES;
use share::grant::{combine, open_share};
use share::header::{Header, Slot};
use share::keys::{Identity, Role};
use share::{DataKey, until};

use super::support::{Case, proxy, terms};

const LENGTHS: [usize; 7] = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000];

fn plain(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect()
}

#[test]
fn an_archive_opens_to_what_was_put_in() {
    let case = Case::new();
    for length in LENGTHS {
        let bytes = case.archive(&case.header, &plain(length));
        assert_eq!(case.opened(&bytes).0, Some(plain(length)), "{length}");
    }
}

#[test]
fn every_byte_of_the_header_counts() {
    let case = Case::new();
    let new = case.grant(&terms(2, 3));
    let header = case.header.with_slot(Slot::HpkeShare(new.signed), &case.owner, &case.key).unwrap();
    let bytes = case.archive(&header, b"rows");
    assert!(case.opened(&bytes).0.is_some());
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        assert_eq!(case.opened(&altered), (None, vec![]), "byte {at} of {}", bytes.len());
    }
    for length in 0..bytes.len() {
        assert_eq!(case.opened(&bytes[..length]).0, None, "cut to {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_flipped_bit_is_refused_and_nothing_wrong_comes_out(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let case = Case::new();
        let mut bytes = case.archive(&case.header, &plain(200_000));
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let (whole, part) = case.opened(&bytes);
        prop_assert_eq!(whole, None);
        prop_assert!(plain(200_000).starts_with(&part));
    }

    #[test]
    fn what_is_no_archive_is_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Header::parse(&bytes).is_err());
        let mut with_magic = share::header::MAGIC.to_vec();
        with_magic.extend(&bytes);
        let _ = Header::parse(&with_magic);
    }
}

#[test]
fn chunks_are_not_left_out_swapped_doubled_cut_or_added() {
    let case = Case::new();
    let whole = case.archive(&case.header, &plain(200_000));
    let (head, body) = whole.split_at(case.header.bytes().len());
    let chunks: Vec<&[u8]> = body.chunks(SEALED_BYTES).collect();
    assert_eq!(chunks.len(), 4);
    let orders: [&[usize]; 12] = [
        &[],
        &[0],
        &[0, 1, 2],
        &[1, 2, 3],
        &[0, 2, 3],
        &[0, 1, 3],
        &[1, 0, 2, 3],
        &[0, 2, 1, 3],
        &[3],
        &[0, 0, 1, 2, 3],
        &[0, 1, 2, 3, 3],
        &[0, 1, 2, 2, 3],
    ];
    for order in orders {
        let bytes = [head, &order.iter().map(|at| chunks[*at]).collect::<Vec<_>>().concat()].concat();
        assert_eq!(case.opened(&bytes).0, None, "{order:?}");
    }
    assert_eq!(case.opened(&[&whole[..], b"x"].concat()).0, None);
    assert_eq!(case.opened(&whole[..whole.len() - 1]).0, None);
    // Of a length that ends with a whole chunk.
    let even = case.archive(&case.header, &plain(131_072));
    assert_eq!(case.opened(&even[..even.len() - SEALED_BYTES]).0, None);
}

#[test]
fn neither_a_foreign_header_nor_foreign_chunks_open() {
    let (case, other) = (Case::new(), Case::new());
    let (one, two) = (case.archive(&case.header, b"rows"), other.archive(&other.header, b"rows"));
    let chunks_of_other = &two[other.header.bytes().len()..];
    assert_eq!(case.opened(&[case.header.bytes(), chunks_of_other].concat()).0, None);
    assert_eq!(case.opened(&two).0, None, "of another owner");
    assert!(case.opened(&one).0.is_some());
    // The same owner and another archive.
    let key = DataKey::new().unwrap();
    let header = Header::new((share::header::ROWS, "shop.orders"), 1, &case.owner, &key).unwrap();
    let chunks = &one[case.header.bytes().len()..];
    assert_eq!(case.opened(&[header.bytes(), chunks].concat()).0, None);
    // A slot that was copied over does not open there.
    let copied = header.with_slot(case.header.slots[0].clone(), &case.owner, &key).unwrap();
    assert_eq!(Header::parse(copied.bytes()).unwrap().slots.len(), 2);
    assert!(header.is_of(&case.key).is_err() && header.is_of(&key).is_ok());
}

#[test]
fn a_slot_of_a_kind_that_is_not_known_is_kept_and_skipped() {
    let case = Case::new();
    let unknown = serde_json::json!({ "kind": "umbral", "capsule": [1, 2, 3] });
    let header = case.header.with_slot(Slot::Unknown(unknown.clone()), &case.owner, &case.key).unwrap();
    let read = Header::parse(header.bytes()).unwrap();
    assert_eq!(read.slots.last(), Some(&Slot::Unknown(unknown.clone())));
    let slot = read.slot_for(&case.reader.public, &case.key).unwrap();
    let again = read.with_slot(slot, &case.owner, &case.key).unwrap();
    assert!(again.slots.contains(&Slot::Unknown(unknown)));
    assert!(again.is_of(&again.key_of_reader(&case.reader).unwrap()).is_ok());
    assert!(again.key_of_reader(&Identity::new(Role::Reader).unwrap()).is_none());
    assert_eq!(case.opened(&case.archive(&again, b"rows")).0, Some(b"rows".to_vec()));
}

#[test]
fn any_two_of_three_shares_are_enough_and_one_is_not() {
    let case = Case::new();
    let new = case.grant(&terms(2, 3));
    let open = |at: usize| open_share(&new.policy, at, &new.shares[at], &case.reader).unwrap();
    for (one, other) in [(0, 1), (0, 2), (2, 1)] {
        let key = combine(&new.policy, &[open(one), open(other)]).unwrap();
        assert!(case.header.is_of(&key).is_ok());
    }
    assert!(combine(&new.policy, &[open(0)]).is_none());
    assert!(combine(&new.policy, &[]).is_none());
    assert!(combine(&new.policy, &[open(1), open(1)]).is_none(), "the same one twice");
    assert!(case.header.is_of(&combine(&new.policy, &[open(2), open(0), open(1)]).unwrap()).is_ok());
    // With fewer than the owner wanted, a key that is none.
    let mut lowered = new.policy.clone();
    lowered.need = 1;
    assert!(case.header.is_of(&combine(&lowered, &[open(0)]).unwrap()).is_err());
}

#[test]
fn shares_serve_one_reader_one_grant_and_one_place() {
    let case = Case::new();
    let (new, other) = (case.grant(&terms(2, 3)), case.grant(&terms(2, 3)));
    let stranger = Identity::new(Role::Reader).unwrap();
    assert!(open_share(&new.policy, 0, &new.shares[0], &stranger).is_err());
    assert!(open_share(&new.policy, 0, &other.shares[0], &case.reader).is_err(), "of another grant");
    assert!(open_share(&new.policy, 0, &new.shares[1], &case.reader).is_err(), "of another proxy");
    assert!(open_share(&new.policy, 3, &new.shares[0], &case.reader).is_err());
    // Where even the hash is made to fit, it does not open.
    let mut forged = new.policy.clone();
    forged.proxies[0].share_sha256 = other.policy.proxies[0].share_sha256;
    assert!(open_share(&forged, 0, &other.shares[0], &case.reader).is_err());
    // Mixed all the same, they give another key, and the commitment says so.
    let one = open_share(&new.policy, 0, &new.shares[0], &case.reader).unwrap();
    let two = open_share(&other.policy, 1, &other.shares[1], &case.reader).unwrap();
    assert!(case.header.is_of(&combine(&new.policy, &[one, two]).unwrap()).is_err());
}

#[test]
fn a_grant_is_the_owners_or_none() {
    let case = Case::new();
    let new = case.grant(&terms(2, 3));
    assert_eq!(new.signed.by(&case.owner.public), Ok(new.policy.clone()));
    assert!(new.signed.by(&Case::new().owner.public).is_err());
    let mut altered = new.signed.clone();
    let at = altered.policy.0.len() / 2;
    altered.policy.0[at] ^= 1;
    assert!(altered.by(&case.owner.public).is_err());
    for wrong in [terms(4, 3), terms(0, 3), terms(1, 0), terms(2, 17)] {
        let made =
            share::grant::NewGrant::new(&case.header, &case.key, &case.owner, &case.reader.public, &wrong);
        assert!(made.is_err(), "{wrong:?}");
    }
    let mut twice = terms(2, 2);
    twice.proxies[1] = proxy(1);
    assert!(
        share::grant::NewGrant::new(&case.header, &case.key, &case.owner, &case.reader.public, &twice)
            .is_err()
    );
}

#[test]
fn dates_and_urls_are_read_as_they_are_meant() {
    assert_eq!(until("2026-12-04"), Ok(1_796_428_799));
    assert_eq!(until("2026-12-04T18:00:00Z"), Ok(1_796_407_200));
    assert!(until("Friday").is_err());
    let hash = "ab".repeat(32);
    let url: share::grant::ProxyUrl = format!("https://[::1]:7443#{hash}").parse().unwrap();
    assert_eq!((url.host.as_str(), url.port, url.to_string()), ("::1", 7443, "https://[::1]:7443".into()));
    for wrong in
        ["http://h:1#", "https://h:1", "https://h#", "https://h:1#ab", "https://:1#", "https://h\r\n:1#"]
    {
        let text = if wrong.ends_with('#') { format!("{wrong}{hash}") } else { wrong.to_owned() };
        assert!(text.parse::<share::grant::ProxyUrl>().is_err(), "{text}");
    }
}

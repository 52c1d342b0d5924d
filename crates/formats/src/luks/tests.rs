//! Headers that cryptsetup 2.6.1 wrote, in testdata/luks: their first bytes.

use proptest::prelude::*;

use super::*;

const LUKS1: &[u8] = include_bytes!("../../testdata/luks/luks1-slots-0-2.bin");
const LABEL: &[u8] = include_bytes!("../../testdata/luks/luks2-label.bin");
const CLEVIS: &[u8] = include_bytes!("../../testdata/luks/luks2-argon2id-clevis.bin");
const UNBOUND: &[u8] = include_bytes!("../../testdata/luks/luks2-unbound-keyring.bin");
const REENCRYPTING: &[u8] = include_bytes!("../../testdata/luks/luks2-reencrypting.bin");
const DETACHED: &[u8] = include_bytes!("../../testdata/luks/luks2-detached.bin");
const LUKS2: [&[u8]; 5] = [LABEL, CLEVIS, UNBOUND, REENCRYPTING, DETACHED];

fn header(bytes: &[u8]) -> Header {
    match parse(bytes, true) {
        Parsed::Header(header) => *header,
        other => panic!("{other:?}"),
    }
}

fn unclear(bytes: &[u8]) -> String {
    match parse(bytes, true) {
        Parsed::Unclear(why) => why,
        other => panic!("{other:?}"),
    }
}

/// Puts `new` where `old` stands in the JSON of the copy at `at`, and makes its checksum hold.
fn with_json(bytes: &[u8], at: usize, old: &str, new: &str) -> Vec<u8> {
    let mut all = bytes.to_vec();
    let size = 16384;
    let json = all[at + 4096..at + size].split(|byte| *byte == 0).next().unwrap();
    let text = String::from_utf8(json.to_vec()).unwrap();
    assert!(text.contains(old), "{text}");
    let mut json = text.replace(old, new).into_bytes();
    json.resize(size - 4096, 0);
    all[at + 4096..at + size].copy_from_slice(&json);
    seal(&mut all, at);
    all
}

fn seal(all: &mut [u8], at: usize) {
    all[at + 448..at + 512].fill(0);
    let sum = openssl::sha::sha256(&all[at..at + 16384]);
    all[at + 448..at + 480].copy_from_slice(&sum);
}

fn both(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    with_json(&with_json(bytes, 0, old, new), 16384, old, new)
}

#[test]
fn luks1_as_cryptsetup_wrote_it() {
    let header = header(LUKS1);
    assert_eq!(
        (header.version, header.key_bits, header.hash.as_deref()),
        (Version::One, 512, Some("sha256"))
    );
    assert_eq!(header.uuid.len(), 36);
    assert_eq!(header.ciphers().map(ToString::to_string).collect::<Vec<_>>(), ["aes-xts-plain64"]);
    assert_eq!(header.openers().map(|slot| slot.id).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((header.slots.len(), header.free_slot()), (8, Some(1)));
    assert_eq!(header.slots[0].kdf, Some(Kdf::Pbkdf2 { hash: "sha256".into(), iterations: 1000 }));
    assert_eq!(header.slots[0].salt.len(), 64);
    assert_ne!(header.slots[0].salt, header.slots[2].salt);
    assert_eq!((header.slots[0].stripes, header.slots[0].offset_bytes), (4000, 4096));
    assert_eq!(header.segments[0].offset_bytes, 4096 * 512);
    assert_eq!((header.claim(), header.is_detached(), header.reencryption), (Claim::Encrypted, false, None));
}

#[test]
fn luks1_that_is_being_encrypted_anew_or_has_a_slot_of_no_known_state() {
    let mut bytes = LUKS1.to_vec();
    bytes[4..6].copy_from_slice(b"\xde\xad");
    assert!(header(&bytes).reencryption.is_some());
    let mut bytes = LUKS1.to_vec();
    bytes[208] = 7;
    let seen = header(&bytes);
    assert_eq!(seen.openers().map(|slot| slot.id).collect::<Vec<_>>(), [2]);
    assert!(matches!(seen.slots[0].state, SlotState::Unclear(_)));
    assert_eq!(seen.free_slot(), Some(1), "what is not known is not free");
    let mut bytes = LUKS1.to_vec();
    bytes[8..72].fill(0);
    bytes[8..19].copy_from_slice(b"cipher_null");
    bytes[40..43].copy_from_slice(b"ecb");
    assert!(matches!(header(&bytes).claim(), Claim::Plain(why) if why.contains("cipher_null-ecb")));
}

#[test]
fn luks2_as_cryptsetup_wrote_it() {
    let label = header(LABEL);
    assert_eq!((label.version, label.label.as_str(), label.key_bits), (Version::Two, "shop", 512));
    assert_eq!(label.uuid.len(), 36);
    assert_eq!((label.header_bytes, label.half_written(), label.is_detached()), (16384, None, false));
    assert!(matches!(
        label.copies,
        Some([HeaderCopy::Whole { .. }, HeaderCopy::Whole { offset_bytes: 16384, .. }])
    ));

    let clevis = header(CLEVIS);
    let kdf = clevis.slot(0).unwrap().kdf.clone().unwrap();
    assert_eq!(kdf, Kdf::Argon2 { variant: "argon2id".into(), time: 4, memory_kib: 65536, lanes: 1 });
    assert_eq!(clevis.segments[0].sector_bytes, 4096);
    assert_eq!(clevis.slot(1).unwrap().priority, Priority::Preferred);
    assert_eq!(clevis.tokens_of(1).map(|token| token.kind.as_str()).collect::<Vec<_>>(), ["clevis"]);
    assert_eq!(clevis.tokens_of(0).count(), 0);
    assert_eq!(clevis.free_slot(), Some(2));

    let detached = header(DETACHED);
    assert!(detached.is_detached());
    assert_eq!(detached.openers().map(|slot| slot.id).collect::<Vec<_>>(), [3, 7]);
}

#[test]
fn an_unbound_slot_and_notes_of_a_reencryption_open_nothing() {
    let unbound = header(UNBOUND);
    assert_eq!(unbound.slots.iter().map(|slot| slot.id).collect::<Vec<_>>(), [0, 1, 5]);
    assert_eq!(unbound.openers().map(|slot| slot.id).collect::<Vec<_>>(), [0, 1]);
    let reencrypting = header(REENCRYPTING);
    assert_eq!(reencrypting.reencryption.as_deref(), Some("its header requires online-reencrypt-v2"));
    // Slot 1 has the key that is to come.
    assert_eq!(reencrypting.openers().map(|slot| slot.id).collect::<Vec<_>>(), [0]);
    let unmarked = header(&both(REENCRYPTING, "online-reencrypt-v2", "something-else"));
    assert!(unmarked.reencryption.unwrap().contains("slot 2"));
    assert_eq!(unmarked.requirements, ["something-else"]);
}

#[test]
fn a_copy_that_is_damaged_older_or_missing_is_said_and_the_other_one_used() {
    let older = |all: &mut Vec<u8>, at: usize, by: u8| {
        all[at + 23] -= by;
        seal(all, at);
    };
    let mut bytes = LABEL.to_vec();
    bytes[5000] ^= 1;
    let seen = header(&bytes);
    assert!(seen.half_written().unwrap().contains("first copy is damaged: its checksum"), "{seen:?}");
    assert_eq!(seen.uuid, header(LABEL).uuid);
    bytes[..4096].fill(0);
    assert!(header(&bytes).half_written().is_some(), "found behind what was overwritten");
    bytes[16384 + 5000] ^= 1;
    assert!(unclear(&bytes).contains("checksum"));

    let mut bytes = LABEL.to_vec();
    bytes[16384 + 300] ^= 1;
    assert!(header(&bytes).half_written().unwrap().contains("second copy is damaged"));
    bytes[100] ^= 1;
    assert!(unclear(&bytes).contains("neither copy"));

    // What is newer counts, wherever it stands.
    for (at, label) in [(0, "new!"), (16384, "shop")] {
        let mut bytes = LABEL.to_vec();
        bytes[16384 + 24..16384 + 28].copy_from_slice(b"new!");
        older(&mut bytes, 16384, 0);
        older(&mut bytes, at, 1);
        let seen = header(&bytes);
        assert_eq!(seen.label, label);
        assert!(seen.half_written().unwrap().contains("differ"));
    }
    assert!(matches!(header(&LABEL[..16384]).copies, Some([HeaderCopy::Whole { .. }, HeaderCopy::Cut])));
    let mut bytes = LABEL.to_vec();
    bytes[16384 + 168] ^= 1;
    older(&mut bytes, 16384, 0);
    assert!(unclear(&bytes).contains("two volumes"));
}

#[test]
fn what_is_no_header_is_absent_and_what_may_be_one_is_unclear() {
    assert_eq!(parse(&[], true), Parsed::Absent);
    assert_eq!(parse(b"LUKS", true), Parsed::Absent);
    assert_eq!(parse(&vec![0; HEAD_BYTES_MAX], false), Parsed::Absent);
    assert_eq!(parse(&[0; 99], true), Parsed::Absent);
    assert!(unclear(b"LUKS\xba\xbe\0\x03").contains("version 3"));
    assert!(unclear(b"LUKS\xba\xbe\0\x02").contains("neither copy"));
    assert!(unclear(&LUKS1[..591]).contains("cut short"));
    assert!(unclear(&LABEL[16384..]).contains("cut off"));
}

#[test]
fn json_of_an_unknown_shape_is_not_guessed() {
    for (old, new, wanted) in [
        (r#""type":"luks2""#, r#""type":9"#, "keyslots 0: it has no type"),
        (r#""keyslots":{"#, r#""key":{"#, "it has no keyslots"),
        (r#""offset":"16777216""#, r#""offset":"-1""#, "its offset is no number"),
        (r#""segments":["0"]"#, r#""segments":["33"]"#, "its segments has"),
        (r#""segments":["0"]"#, r#""segments":["00"]"#, "its segments has"),
        (r#""config":{"#, r#""config":[{"#, "cannot be read"),
        (r#""json_size""#, r#""requirements":{"optional":[]},"json_size""#, "requirements of a kind"),
        (r#""key_size":64"#, r#""key_size":1025"#, "no number up to 1024"),
    ] {
        let bytes = both(CLEVIS, old, new);
        let why = unclear(&bytes);
        assert!(why.contains(wanted), "{new}: {why}");
    }
    let many: Vec<String> = (0..33).map(|id| format!("\"{id}\":{{}}")).collect();
    let why = unclear(&both(LABEL, r#""tokens":{}"#, &format!("\"tokens\":{{{}}}", many.join(","))));
    assert!(why.contains("33 tokens"), "{why}");
    let seen = header(&both(LABEL, "aes-xts-plain64\",\"sector", "cipher_null-ecb\",\"sector"));
    assert!(matches!(seen.claim(), Claim::Plain(_)));
    let seen = header(&both(LABEL, r#""type":"crypt""#, r#""type":"hw-opal""#));
    assert!(matches!(seen.claim(), Claim::Unclear(_)));
    let seen = header(&both(LABEL, r#""type":"crypt""#, r#""type":"linear""#));
    assert!(matches!(seen.claim(), Claim::Plain(_)));
    let seen = header(&both(
        LABEL,
        r#""type":"pbkdf2","hash":"sha256","iterations":1000,"salt":"#,
        r#""type":"scrypt","salt":"#,
    ));
    assert_eq!(seen.slots[0].kdf, Some(Kdf::Other("scrypt".into())));
}

#[test]
fn what_is_needed_grows_to_the_whole_and_no_part_is_taken_for_it() {
    for bytes in LUKS2.into_iter().chain([LUKS1]) {
        let mut have = 0;
        let mut steps = 0;
        while let Parsed::Needs(more) = parse(&bytes[..have], false) {
            assert!(more > have && more <= bytes.len(), "{have} {more}");
            have = more;
            steps += 1;
        }
        assert!(matches!(parse(&bytes[..have], false), Parsed::Header(_)));
        assert!(steps <= 5, "{steps}");
    }
    let zeros = vec![0; HEAD_BYTES_MAX];
    let mut have = 0;
    while let Parsed::Needs(more) = parse(&zeros[..have], false) {
        assert!(more > have);
        have = more;
    }
    assert!(have <= (4 << 20) + 4096);
}

const VERSION_AT: std::ops::Range<usize> = 6..8;

/// What a random flip meets once in a hundred runs.
#[test]
fn another_version_is_unclear() {
    for at in VERSION_AT {
        for with in 1..=u8::MAX {
            let mut bytes = CLEVIS.to_vec();
            bytes[at] ^= with;
            assert!(matches!(parse(&bytes, true), Parsed::Unclear(_)), "{at} {with}");
        }
    }
}

proptest! {
    #[test]
    fn no_flipped_byte_goes_unseen_or_panics(which in 0_usize..5, at in 0_usize..32768, with in 1_u8..) {
        let mut bytes = LUKS2[which].to_vec();
        bytes[at] ^= with;
        match parse(&bytes, true) {
            // A copy of its own checksum tells; only bytes that it does not count may differ.
            Parsed::Header(header) => {
                let is_whole = header.half_written().is_none();
                let in_copy = at % 16384;
                prop_assert!(!is_whole || (480..512).contains(&in_copy), "{at}");
            }
            // Of another version nobody knows what its second copy would be.
            Parsed::Unclear(_) => prop_assert!(VERSION_AT.contains(&at), "the other copy is whole: {at}"),
            Parsed::Absent | Parsed::Needs(_) => prop_assert!(false, "the other copy is whole: {at}"),
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..700), version in 0_u8..4, end: bool) {
        let _ = parse(&bytes, end);
        for magic in [MAGIC, SECOND_MAGIC, REENCRYPTING_MAGIC] {
            let _ = parse(&[&magic[..], &[0, version], &bytes].concat(), end);
        }
        let _ = parse_json(&bytes);
    }

    #[test]
    fn any_luks1_header_is_read_within_its_limits(
        at in 0_usize..592, new in proptest::collection::vec(any::<u8>(), 1..48),
    ) {
        let mut bytes = LUKS1.to_vec();
        for (old, new) in bytes[at..].iter_mut().zip(new) {
            *old = new;
        }
        if let Parsed::Header(header) = parse(&bytes, true) {
            prop_assert!(header.key_bits <= 4096 && header.slots.len() <= 8 || header.version == Version::Two);
            prop_assert!(header.openers().all(|slot| slot.stripes > 0));
        }
    }
}

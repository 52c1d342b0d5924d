//! The tables against themselves: whatever a name says, its fields say too.

use super::*;
use KeyExchange as K;

fn is_ascending<Code: Ord + Copy>(codes: impl Iterator<Item = Code>) -> bool {
    let codes: Vec<Code> = codes.collect();
    codes.windows(2).all(|pair| matches!(pair, [a, b] if a < b))
}

#[test]
fn tables_are_sorted_and_unique() {
    assert!(is_ascending(CIPHER_SUITES.iter().map(|row| row.code)));
    assert!(is_ascending(GROUPS.iter().map(|row| row.code)));
    assert!(is_ascending(SIGNATURE_SCHEMES.iter().map(|row| row.code)));
    assert!(is_ascending(ALERTS.iter().map(|row| row.0)));
    assert!(is_ascending(EXTENSIONS.iter().map(|row| row.0)));
}

#[test]
fn every_row_is_found_by_its_code_and_name() {
    for row in CIPHER_SUITES {
        assert_eq!(cipher_suite(row.code), Some(row));
        let by_name = cipher_suite_by_name(row.name).unwrap();
        // Netscape's FIPS suites had two codes each.
        assert_eq!(by_name.name, row.name);
        if let Some(name) = row.openssl_name {
            assert_eq!(cipher_suite_by_name(name).unwrap().openssl_name, Some(name));
        }
    }
    assert_eq!(cipher_suite(0x0a0a), None);
    assert_eq!(group(0x11ec).unwrap().name, "X25519MLKEM768");
    assert_eq!(signature_scheme(0x0905).unwrap().name, "mldsa65");
    assert_eq!(alert_name(86), Some("inappropriate_fallback"));
    assert_eq!(extension_name(0xff01), Some("renegotiation_info"));
}

#[test]
fn openssl_names_are_unique() {
    let mut names: Vec<_> = CIPHER_SUITES.iter().filter_map(|row| row.openssl_name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn names_and_fields_agree() {
    for row in CIPHER_SUITES {
        let says = |part: &str| row.name.contains(part);
        let name = row.name;
        assert_eq!(row.is_export, says("_EXPORT"), "{name}");
        assert_eq!(row.is_anon(), says("_anon_"), "{name}");
        assert_eq!(row.is_null(), row.strength_bits == 0, "{name}");
        assert_eq!(
            row.is_null(),
            says("_NULL") || says("-NULL-") || matches!(row.code, 0xc0b4 | 0xc0b5),
            "{name}"
        );
        assert_eq!(row.cipher == Cipher::Rc4, says("_RC4_"), "{name}");
        assert_eq!(row.cipher == Cipher::TripleDes, says("_3DES_"), "{name}");
        assert_eq!(row.cipher == Cipher::Des, says("_DES_") || says("_DES40_"), "{name}");
        assert_eq!(row.cipher == Cipher::Aes, says("_AES_"), "{name}");
        assert_eq!(row.cipher == Cipher::ChaCha20, says("_CHACHA20_"), "{name}");
        assert_eq!(row.cipher == Cipher::Aria, says("_ARIA_"), "{name}");
        assert_eq!(row.cipher == Cipher::Camellia, says("_CAMELLIA_"), "{name}");
        assert_eq!(row.mode == Mode::Cbc, says("_CBC"), "{name}");
        assert_eq!(row.mode == Mode::Gcm, says("_GCM"), "{name}");
        assert_eq!(row.mode == Mode::Ccm8, says("_CCM_8"), "{name}");
        assert_eq!(row.mode == Mode::Ccm, says("_CCM") && !says("_CCM_8"), "{name}");
        assert_eq!(row.mac == Mac::Sha1, name.ends_with("_SHA"), "{name}");
        assert_eq!(row.mac == Mac::Md5, name.ends_with("_MD5"), "{name}");
        let is_tls13 = row.version_min == Version::TLS13;
        assert_eq!(row.key_exchange == K::Any, is_tls13, "{name}");
        assert_eq!(row.authentication == Authentication::Any, is_tls13, "{name}");
        assert_eq!(row.works_with(Version::TLS13), is_tls13, "{name}");
        if row.mac == Mac::Aead {
            assert!(row.version_min >= Version::TLS12, "{name}");
        }
        let ephemeral =
            says("_DHE_") || says("_ECDHE_") || says("_anon_") || says("_CECPQ1_") || says("_ECCPWD_");
        let psk_dhe = says("_PSK_DHE_");
        assert_eq!(row.has_forward_secrecy(), ephemeral || psk_dhe || says("_SRP_") || is_tls13, "{name}");
        for (word, bits) in
            [("_128", 128), ("_256_", 256), ("_40", 40), ("_56_", 56), ("DES40", 40), ("_3DES_", 112)]
        {
            if says(word) && !row.is_null() && !(word == "_256_" && says("GOSTR341112_256")) {
                assert_eq!(row.strength_bits, bits, "{name}");
            }
        }
    }
}

#[test]
fn no_row_is_a_signal_or_grease() {
    assert!(CIPHER_SUITES.iter().all(|row| !is_signalling(row.code) && !is_grease(row.code)));
    let grease: Vec<u16> = (0..=u16::MAX).filter(|code| is_grease(*code)).collect();
    assert_eq!(grease.len(), 16);
    assert_eq!((grease.first(), grease.last()), (Some(&0x0a0a), Some(&0xfafa)));
}

#[test]
fn only_the_groups_of_tls13_have_shares() {
    for row in GROUPS {
        assert_eq!(row.client_share_bytes == 0, row.server_share_bytes == 0, "{}", row.name);
        if row.resists_quantum_computers() {
            assert!(row.is_in_tls13(), "{}", row.name);
        }
    }
}

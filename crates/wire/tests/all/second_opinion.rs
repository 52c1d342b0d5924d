//! The registry against the tables of others, with each difference explained.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use tls_parser::{TlsCipherAu, TlsCipherEnc, TlsCipherEncMode, TlsCipherKx, TlsCipherMac, TlsCipherSuite};
use wire::tls::registry::{
    Authentication as A, Cipher as C, KeyExchange as K, Mac, Mode, Version, cipher_suite, is_signalling,
};

#[test]
fn has_every_suite_that_tls_parser_has_and_agrees_on_it() {
    let (mut seen, mut missing_there) = (0, Vec::new());
    for code in 0..=u16::MAX {
        let (ours, theirs) = (cipher_suite(code), TlsCipherSuite::from_id(code));
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            assert!(theirs.is_none() || is_signalling(code), "{code:04x} is missing here");
            missing_there.extend(ours.map(|ours| ours.code));
            continue;
        };
        seen += 1;
        assert_eq!(ours.name, theirs.name);
        agree(ours, theirs);
    }
    assert!(seen > 340, "{seen}");
    // Theirs is the registry; what is only here is older than it, or GOST and left out there.
    for code in missing_there {
        let row = cipher_suite(code).unwrap();
        assert!(row.is_legacy || row.name.contains("GOST"), "{}", row.name);
    }
}

fn agree(ours: &wire::tls::registry::CipherSuite, theirs: &TlsCipherSuite) {
    let name = ours.name;
    let is_anon = ours.is_anon();
    let key_exchange = match ours.key_exchange {
        K::Null => TlsCipherKx::Null,
        K::Rsa | K::RsaPsk => TlsCipherKx::Rsa,
        // They take anonymous exchanges for static ones, though the keys are fresh.
        K::Dhe if is_anon => TlsCipherKx::Dh,
        K::Ecdhe if is_anon => TlsCipherKx::Ecdh,
        // RFC 6655 5 turned the words around; it is DHE_PSK all the same.
        K::DhePsk if name.starts_with("TLS_PSK_DHE") => TlsCipherKx::Psk,
        K::Dh => TlsCipherKx::Dh,
        K::Dhe | K::DhePsk => TlsCipherKx::Dhe,
        K::Ecdh => TlsCipherKx::Ecdh,
        K::Ecdhe | K::EcdhePsk => TlsCipherKx::Ecdhe,
        K::Psk => TlsCipherKx::Psk,
        K::Srp => TlsCipherKx::Srp,
        K::Krb5 => TlsCipherKx::Krb5,
        K::Eccpwd => TlsCipherKx::Eccpwd,
        K::Any => TlsCipherKx::Tls13,
        K::Gost | K::Fortezza | K::Cecpq1 => return,
    };
    assert_eq!(key_exchange, theirs.kx, "{name}");
    let authentication = match ours.authentication {
        A::Null | A::Anon => TlsCipherAu::Null,
        // RSA_PSK proves by certificate and key; they name the key.
        A::Rsa if ours.key_exchange == K::RsaPsk => TlsCipherAu::Psk,
        A::Rsa if ours.key_exchange == K::Srp => TlsCipherAu::Srp_Rsa,
        A::Dss if ours.key_exchange == K::Srp => TlsCipherAu::Srp_Dss,
        A::Psk if name.starts_with("TLS_PSK_DHE") => TlsCipherAu::Dhe,
        A::Rsa => TlsCipherAu::Rsa,
        A::Dss => TlsCipherAu::Dss,
        A::Ecdsa => TlsCipherAu::Ecdsa,
        A::Psk => TlsCipherAu::Psk,
        A::Srp => TlsCipherAu::Srp,
        A::Krb5 => TlsCipherAu::Krb5,
        A::Eccpwd => TlsCipherAu::Eccpwd,
        A::Any => TlsCipherAu::Tls13,
        A::Gost | A::Fortezza => return,
    };
    assert_eq!(authentication, theirs.au, "{name}");
    let cipher = match ours.cipher {
        C::Null => TlsCipherEnc::Null,
        C::Rc2 => TlsCipherEnc::Rc2,
        C::Rc4 => TlsCipherEnc::Rc4,
        C::Des => TlsCipherEnc::Des,
        C::TripleDes => TlsCipherEnc::TripleDes,
        C::Idea => TlsCipherEnc::Idea,
        C::Seed => TlsCipherEnc::Seed,
        C::Aes => TlsCipherEnc::Aes,
        C::Camellia => TlsCipherEnc::Camellia,
        C::Aria => TlsCipherEnc::Aria,
        C::ChaCha20 => TlsCipherEnc::Chacha20_Poly1305,
        C::Sm4 => TlsCipherEnc::Sm4,
        C::Aegis128L | C::Aegis256 => TlsCipherEnc::Aegis,
        C::Skipjack | C::Gost28147 | C::Magma | C::Kuznyechik => return,
    };
    assert_eq!(cipher, theirs.enc, "{name}");
    let mode = match ours.mode {
        Mode::Cbc => TlsCipherEncMode::Cbc,
        Mode::Gcm => TlsCipherEncMode::Gcm,
        Mode::Ccm | Mode::Ccm8 => TlsCipherEncMode::Ccm,
        _ => TlsCipherEncMode::Null,
    };
    assert_eq!(mode, theirs.enc_mode, "{name}");
    let mac = match ours.mac {
        Mac::Null => TlsCipherMac::Null,
        Mac::Md5 => TlsCipherMac::HmacMd5,
        Mac::Sha1 => TlsCipherMac::HmacSha1,
        Mac::Sha256 => TlsCipherMac::HmacSha256,
        Mac::Sha384 => TlsCipherMac::HmacSha384,
        // They take the hash of the handshake for a MAC of the records, which AEGIS has no need of.
        Mac::Aead if ours.cipher == C::Aegis256 => TlsCipherMac::HmacSha512,
        Mac::Aead if ours.cipher == C::Aegis128L => TlsCipherMac::HmacSha256,
        Mac::Aead => TlsCipherMac::Aead,
        Mac::Gost3411 | Mac::Imit | Mac::Omac | Mac::Ripemd160 => return,
    };
    assert_eq!(mac, theirs.mac, "{name}");
    let their_bits = match (ours.cipher, theirs.enc_size) {
        // They count bits of keys; two of the three keys of 3DES fall to meeting in the middle.
        (C::TripleDes, 168) => 112,
        // RFC 8439: the key has 256 bits.
        (C::ChaCha20, 128) => 256,
        (_, bits) => bits,
    };
    assert_eq!(ours.strength_bits, their_bits, "{name}");
}

#[test]
fn spells_suites_as_openssl_does() {
    let list = include_str!("../../testdata/registry/openssl-ciphers.txt");
    let mut seen = 0;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let [code, name, openssl_name, version] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let code = u16::from_str_radix(&code.replace("0x", "").replace(',', ""), 16).unwrap();
        let ours = cipher_suite(code).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!((ours.name, ours.openssl_name), (name, Some(openssl_name)));
        let first = match version {
            "TLSv1.3" => Version::TLS13,
            "TLSv1.2" => Version::TLS12,
            "TLSv1" | "SSLv3" => Version::TLS10,
            other => panic!("{other}"),
        };
        // Ours is what was seen, which may be older than what this OpenSSL allows.
        assert!(ours.works_with(first) && ours.version_min <= first, "{name}");
        assert_eq!(ours.version_min >= Version::TLS12, first >= Version::TLS12, "{name}");
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

//! Suites of SSL 3.0 to TLS 1.2 by class: what is asked where they are not listed one by one, and the order of offers.

use std::sync::OnceLock;

use wire::tls::registry::{CIPHER_SUITES, Cipher, CipherSuite, KeyExchange, Mode, Version};

pub type Class = (&'static str, fn(&CipherSuite) -> bool);

fn is_usual(suite: &CipherSuite) -> bool {
    use KeyExchange as K;
    matches!(suite.key_exchange, K::Rsa | K::Dh | K::Dhe | K::Ecdh | K::Ecdhe)
}
fn is_weak(suite: &CipherSuite) -> bool {
    suite.is_null()
        || suite.is_anon()
        || suite.is_export
        || suite.cipher == Cipher::Rc4
        || suite.cipher.block_bits() == Some(64)
}
fn is_aead(suite: &CipherSuite) -> bool {
    matches!(suite.mode, Mode::Gcm | Mode::Ccm | Mode::Ccm8 | Mode::Poly1305)
}

/// Together they are every suite of SSL 3.0 to TLS 1.2; the better ones first.
pub const CLASSES: [Class; 8] = [
    ("forward secrecy, AEAD", |suite| {
        is_usual(suite) && !is_weak(suite) && suite.has_forward_secrecy() && is_aead(suite)
    }),
    ("forward secrecy, CBC", |suite| {
        is_usual(suite) && !is_weak(suite) && suite.has_forward_secrecy() && !is_aead(suite)
    }),
    ("no forward secrecy", |suite| is_usual(suite) && !is_weak(suite) && !suite.has_forward_secrecy()),
    ("64-bit blocks", |suite| {
        suite.cipher.block_bits() == Some(64) && !suite.is_anon() && !suite.is_export && is_usual(suite)
    }),
    ("RC4", |suite| suite.cipher == Cipher::Rc4 && !suite.is_anon() && !suite.is_export && is_usual(suite)),
    ("export", |suite| suite.is_export),
    ("anonymous or without encryption", |suite| (suite.is_anon() || suite.is_null()) && !suite.is_export),
    ("pre-shared keys and others", |suite| {
        !is_usual(suite) && !suite.is_export && !suite.is_anon() && !suite.is_null()
    }),
];

/// Every suite of the registry, those of TLS 1.3 first, then the classes in their order. So a server that goes by the
/// client's order settles with us for what it would settle for with a good client.
pub fn in_order() -> &'static [&'static CipherSuite] {
    static ORDER: OnceLock<Vec<&'static CipherSuite>> = OnceLock::new();
    ORDER.get_or_init(|| {
        let mut suites: Vec<&CipherSuite> = CIPHER_SUITES.iter().collect();
        suites.sort_by_cached_key(|suite| {
            let class = CLASSES.iter().position(|(_, is_in)| is_in(suite)).unwrap_or(CLASSES.len());
            let rank = if suite.works_with(Version::TLS13) { 0 } else { class + 1 };
            (rank, suite.key_exchange != KeyExchange::Ecdhe, suite.code)
        });
        suites
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_leave_no_suite_out() {
        let is_left = |suite: &&&CipherSuite| {
            suite.works_with(Version::TLS12) && !CLASSES.iter().any(|(_, is_in_class)| is_in_class(suite))
        };
        let left: Vec<u16> = in_order().iter().filter(is_left).map(|suite| suite.code).collect();
        assert!(left.is_empty(), "{left:04x?}");
    }

    #[test]
    fn a_good_suite_is_offered_before_a_weak_one() {
        let at = |code: u16| in_order().iter().position(|suite| suite.code == code);
        let wished = [0x1301, 0xc02f, 0xc013, 0x002f, 0x000a, 0x0004, 0x0003, 0x0001];
        assert!(wished.is_sorted_by_key(|code| at(*code)), "{:?}", wished.map(at));
    }
}

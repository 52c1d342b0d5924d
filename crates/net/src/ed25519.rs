//! The answer of MariaDB's `client_ed25519`: a signature of the server's nonce.
//!
//! Source: MariaDB server, `plugin/auth_ed25519`: Ed25519 of SUPERCOP's ref10 (RFC 8032 5.1), but for the secret, which is the password as
//! it is, of any length, where the RFC has 32 random bytes. Tried with MariaDB 10.11.19.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use openssl::sha::Sha512;
use zeroize::Zeroizing;

pub const NONCE_BYTES: usize = 32;

/// 64 bytes: R and S.
pub fn sign(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let expanded = Zeroizing::new(hash(&[password]));
    let (low, prefix) = expanded.split_at(32);
    let mut bytes = Zeroizing::new([0; 32]);
    bytes.copy_from_slice(low);
    let secret = Zeroizing::new(Scalar::from_bytes_mod_order(clamp_integer(*bytes)));
    let public = EdwardsPoint::mul_base(&secret).compress();
    let once = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&hash(&[prefix, nonce])));
    let commitment = EdwardsPoint::mul_base(&once).compress();
    let challenge =
        Scalar::from_bytes_mod_order_wide(&hash(&[commitment.as_bytes(), public.as_bytes(), nonce]));
    let response = *once + challenge * *secret;
    [commitment.to_bytes(), response.to_bytes()].concat()
}

fn hash(parts: &[&[u8]]) -> [u8; 64] {
    let mut hasher = Sha512::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_openssl_signs_with_the_same_secret() {
        let secret: [u8; 32] = std::array::from_fn(|at| u8::try_from(at * 7 % 251).expect("it fits"));
        let nonce = [9; NONCE_BYTES];
        let key = openssl::pkey::PKey::private_key_from_raw_bytes(&secret, openssl::pkey::Id::ED25519);
        let key = key.expect("a key");
        let mut signer = openssl::sign::Signer::new_without_digest(&key).expect("it signs");
        assert_eq!(sign(&secret, &nonce), signer.sign_oneshot_to_vec(&nonce).expect("it signs"));
        assert_eq!(sign(b"", &nonce).len(), 64);
    }
}

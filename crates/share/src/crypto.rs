//! The few operations that everything else is made of; the algorithms are those of vetted crates.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use hpke::aead::ChaCha20Poly1305 as HpkeAead;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable};
use openssl::pkey::{Id, PKey};
use openssl::sign::{Signer, Verifier};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::ShareError;

pub const KEY_BYTES: usize = 32;
pub const HASH_BYTES: usize = 32;
pub const SIGNATURE_BYTES: usize = 64;
pub const TAG_BYTES: usize = 16;
pub const NONCE_BYTES: usize = 12;

pub type Secret = Zeroizing<[u8; KEY_BYTES]>;

pub fn random<const N: usize>() -> Result<[u8; N], ShareError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ShareError::internal("the system gives no random bytes", error))?;
    Ok(bytes)
}

/// What one archive is encrypted with, and everything that is derived from it.
pub struct DataKey(Secret);

impl std::fmt::Debug for DataKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DataKey")
    }
}

impl DataKey {
    pub fn new() -> Result<Self, ShareError> {
        random().map(|bytes| Self(Zeroizing::new(bytes)))
    }

    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        if bytes.len() != key.len() {
            return None;
        }
        key.copy_from_slice(bytes);
        Some(Self(key))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..]
    }

    /// A key, or whatever else, for one purpose in one archive.
    pub(crate) fn derive<const N: usize>(&self, archive: &[u8], purpose: &str) -> Zeroizing<[u8; N]> {
        derive(archive, &self.0[..], purpose)
    }
}

pub fn derive<const N: usize>(salt: &[u8], key: &[u8], purpose: &str) -> Zeroizing<[u8; N]> {
    let mut out = Zeroizing::new([0; N]);
    Hkdf::<Sha256>::new(Some(salt), key)
        .expand(format!("sealion share v1 {purpose}").as_bytes(), &mut out[..])
        .expect("HKDF-SHA-256 gives up to 8160 bytes, and nobody here asks for more than 32");
    out
}

pub fn sha256(parts: &[&[u8]]) -> [u8; HASH_BYTES] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

pub fn mac(key: &[u8; KEY_BYTES], bytes: &[u8]) -> [u8; HASH_BYTES] {
    keyed(key, bytes).finalize().into_bytes().into()
}

/// In constant time.
pub fn is_mac(key: &[u8; KEY_BYTES], bytes: &[u8], tag: &[u8]) -> bool {
    keyed(key, bytes).verify_slice(tag).is_ok()
}

fn keyed(key: &[u8; KEY_BYTES], bytes: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(bytes);
    mac
}

pub fn seal(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    aad: &[u8],
    plain: &[u8],
) -> Result<Vec<u8>, ShareError> {
    ChaCha20Poly1305::new(&Key::from(*key))
        .encrypt(&Nonce::from(*nonce), Payload { msg: plain, aad })
        .map_err(|error| ShareError::internal("cannot encrypt", error))
}

/// `None`: the tag is not of these bytes, this key, nonce and `aad`.
pub fn open(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    aad: &[u8],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    ChaCha20Poly1305::new(&Key::from(*key))
        .decrypt(&Nonce::from(*nonce), Payload { msg: sealed, aad })
        .ok()
        .map(Zeroizing::new)
}

/// A key pair of X25519: secret, public.
pub fn sealing_pair() -> (Secret, [u8; KEY_BYTES]) {
    let (secret, public) = X25519HkdfSha256::gen_keypair();
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    bytes.copy_from_slice(&secret.to_bytes());
    let mut public_bytes = [0; KEY_BYTES];
    public_bytes.copy_from_slice(&public.to_bytes());
    (bytes, public_bytes)
}

/// HPKE (RFC 9180), base mode: the encapsulated key, then the ciphertext.
pub fn seal_to(
    public: &[u8; KEY_BYTES],
    info: &str,
    aad: &[u8],
    plain: &[u8],
) -> Result<Vec<u8>, ShareError> {
    let failed = |error| {
        ShareError::usage(
            "cannot seal to this key",
            error,
            "have the owner of the key send public.json again",
        )
    };
    let public = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(public).map_err(failed)?;
    let (key, sealed) = hpke::single_shot_seal::<HpkeAead, HkdfSha256, X25519HkdfSha256>(
        &OpModeS::Base,
        &public,
        info.as_bytes(),
        plain,
        aad,
    )
    .map_err(failed)?;
    Ok([&key.to_bytes()[..], &sealed].concat())
}

/// `None`: it was sealed to another key, for something else, or it was altered.
pub fn open_with(secret: &Secret, info: &str, aad: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (key, sealed) = sealed.split_at_checked(KEY_BYTES)?;
    let secret = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(&secret[..]).ok()?;
    let key = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(key).ok()?;
    hpke::single_shot_open::<HpkeAead, HkdfSha256, X25519HkdfSha256>(
        &OpModeR::Base,
        &secret,
        &key,
        info.as_bytes(),
        sealed,
        aad,
    )
    .ok()
    .map(Zeroizing::new)
}

/// A key pair of Ed25519: secret, public.
pub fn signing_pair() -> Result<(Secret, [u8; KEY_BYTES]), ShareError> {
    let secret = Zeroizing::new(random()?);
    let public = PKey::private_key_from_raw_bytes(&secret[..], Id::ED25519)
        .and_then(|key| key.raw_public_key())
        .ok()
        .and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
    public
        .map(|public| (secret, public))
        .ok_or_else(|| ShareError::internal("cannot make a key", "OpenSSL has no Ed25519"))
}

pub fn sign(secret: &Secret, text: &[u8]) -> Result<[u8; SIGNATURE_BYTES], ShareError> {
    let failed = |error| ShareError::internal("cannot sign", error);
    let key = PKey::private_key_from_raw_bytes(&secret[..], Id::ED25519).map_err(failed)?;
    let mut out = [0; SIGNATURE_BYTES];
    let signed = Signer::new_without_digest(&key).and_then(|mut signer| signer.sign_oneshot(&mut out, text));
    signed.map(|_| out).map_err(failed)
}

/// Of a public key of small order (all zeros, for one) a signature can be made by anybody, for any text: OpenSSL does not say so.
fn is_sound(public: &[u8; KEY_BYTES]) -> bool {
    let point = curve25519_dalek::edwards::CompressedEdwardsY(*public).decompress();
    point.is_some_and(|point| !point.is_small_order() && point.is_torsion_free())
}

pub fn is_signed(public: &[u8; KEY_BYTES], text: &[u8], signature: &[u8]) -> bool {
    if !is_sound(public) {
        return false;
    }
    let Ok(key) = PKey::public_key_from_raw_bytes(public, Id::ED25519) else { return false };
    Verifier::new_without_digest(&key)
        .and_then(|mut verifier| verifier.verify_oneshot(signature, text))
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_small_order_signs_nothing() {
        // A quarter of all texts has this signature by this key: found by the fuzzer of the header.
        for text in 0..64_u8 {
            assert!(!is_signed(&[0; KEY_BYTES], &[text], &[0; SIGNATURE_BYTES]), "{text}");
        }
        let (secret, public) = signing_pair().expect("a key");
        let signature = sign(&secret, b"x").expect("a signature");
        assert!(is_signed(&public, b"x", &signature) && !is_signed(&public, b"y", &signature));
        assert!(seal_to(&[0; KEY_BYTES], "", b"", b"x").is_err(), "nor is anything sealed to such a key");
    }
}

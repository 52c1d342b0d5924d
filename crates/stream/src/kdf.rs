//! Keys out of a secret, each for one purpose.
//!
//! # Source
//! RFC 5869 (HKDF) with SHA-256, of which one block is taken: 32 bytes.

use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use zeroize::Zeroizing;

pub const HASH_BYTES: usize = 32;

/// `salt`: no more than 64 bytes; an empty one counts as 32 zeros.
pub fn hkdf(salt: &[u8], secret: &[u8], info: &[u8]) -> Result<Zeroizing<[u8; HASH_BYTES]>, ErrorStack> {
    let extracted = hmac(if salt.is_empty() { &[0; HASH_BYTES] } else { salt }, &[secret])?;
    hmac(&extracted[..], &[info, &[1]])
}

/// HMAC-SHA-256.
pub fn hmac(key: &[u8], parts: &[&[u8]]) -> Result<Zeroizing<[u8; HASH_BYTES]>, ErrorStack> {
    let key = PKey::hmac(key)?;
    let mut signer = Signer::new(MessageDigest::sha256(), &key)?;
    for part in parts {
        signer.update(part)?;
    }
    let mut sum = Zeroizing::new([0; HASH_BYTES]);
    signer.sign(sum.as_mut())?;
    Ok(sum)
}

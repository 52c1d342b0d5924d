//! Signature schemes: since TLS 1.3 one code says key, padding and hash; in TLS 1.2 its two bytes are hash and key.
//!
//! Sources: IANA "TLS SignatureScheme", RFC 8446 4.2.3, RFC 5246 7.4.1.4.1, RFC 8734, RFC 8998, RFC 9367,
//! draft-ietf-tls-mldsa; OpenSSL 3.6.3's `tls1.h` for the codes of its own (GOST before the registration).

/// The key that signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignatureKey {
    /// RSA with PKCS #1 v1.5 padding.
    RsaPkcs1,
    /// RSA-PSS by an ordinary RSA key.
    RsaPssRsae,
    /// RSA-PSS by a key that may do nothing else.
    RsaPssPss,
    Dsa,
    Ecdsa,
    Eddsa,
    MlDsa,
    Gost,
    Sm2,
}

/// One row of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignatureScheme {
    pub code: u16,
    pub name: &'static str,
    pub key: SignatureKey,
    /// The hash that is signed; empty where the scheme hashes on its own.
    pub hash: &'static str,
}

impl SignatureScheme {
    /// Two texts with the same hash can be made: MD5, SHA-1 (RFC 9155).
    pub fn has_broken_hash(&self) -> bool {
        matches!(self.hash, "md5" | "sha1")
    }
}

pub const RSA_PKCS1_SHA1: u16 = 0x0201;
pub const RSA_PKCS1_SHA256: u16 = 0x0401;
pub const RSA_PKCS1_SHA384: u16 = 0x0501;
pub const RSA_PKCS1_SHA512: u16 = 0x0601;
pub const ECDSA_SHA1: u16 = 0x0203;
pub const ECDSA_SECP256R1_SHA256: u16 = 0x0403;
pub const ECDSA_SECP384R1_SHA384: u16 = 0x0503;
pub const ECDSA_SECP521R1_SHA512: u16 = 0x0603;
pub const RSA_PSS_RSAE_SHA256: u16 = 0x0804;
pub const RSA_PSS_RSAE_SHA384: u16 = 0x0805;
pub const RSA_PSS_RSAE_SHA512: u16 = 0x0806;
pub const ED25519: u16 = 0x0807;
pub const ED448: u16 = 0x0808;
pub const RSA_PSS_PSS_SHA256: u16 = 0x0809;
pub const RSA_PSS_PSS_SHA384: u16 = 0x080a;
pub const RSA_PSS_PSS_SHA512: u16 = 0x080b;
pub const MLDSA44: u16 = 0x0904;
pub const MLDSA65: u16 = 0x0905;
pub const MLDSA87: u16 = 0x0906;

const fn scheme(code: u16, name: &'static str, key: SignatureKey, hash: &'static str) -> SignatureScheme {
    SignatureScheme { code, name, key, hash }
}

use SignatureKey::{Dsa, Ecdsa, Eddsa, Gost, MlDsa, RsaPkcs1, RsaPssPss, RsaPssRsae, Sm2};

/// Every scheme that this crate knows, sorted by code.
#[rustfmt::skip]
pub static SIGNATURE_SCHEMES: &[SignatureScheme] = &[
    scheme(0x0101, "rsa_pkcs1_md5", RsaPkcs1, "md5"),
    scheme(0x0201, "rsa_pkcs1_sha1", RsaPkcs1, "sha1"),
    scheme(0x0202, "dsa_sha1", Dsa, "sha1"),
    scheme(0x0203, "ecdsa_sha1", Ecdsa, "sha1"),
    scheme(0x0301, "rsa_pkcs1_sha224", RsaPkcs1, "sha224"),
    scheme(0x0302, "dsa_sha224", Dsa, "sha224"),
    scheme(0x0303, "ecdsa_sha224", Ecdsa, "sha224"),
    scheme(0x0401, "rsa_pkcs1_sha256", RsaPkcs1, "sha256"),
    scheme(0x0402, "dsa_sha256", Dsa, "sha256"),
    scheme(0x0403, "ecdsa_secp256r1_sha256", Ecdsa, "sha256"),
    scheme(0x0420, "rsa_pkcs1_sha256_legacy", RsaPkcs1, "sha256"),
    scheme(0x0501, "rsa_pkcs1_sha384", RsaPkcs1, "sha384"),
    scheme(0x0502, "dsa_sha384", Dsa, "sha384"),
    scheme(0x0503, "ecdsa_secp384r1_sha384", Ecdsa, "sha384"),
    scheme(0x0520, "rsa_pkcs1_sha384_legacy", RsaPkcs1, "sha384"),
    scheme(0x0601, "rsa_pkcs1_sha512", RsaPkcs1, "sha512"),
    scheme(0x0602, "dsa_sha512", Dsa, "sha512"),
    scheme(0x0603, "ecdsa_secp521r1_sha512", Ecdsa, "sha512"),
    scheme(0x0620, "rsa_pkcs1_sha512_legacy", RsaPkcs1, "sha512"),
    scheme(0x0708, "sm2sig_sm3", Sm2, "sm3"),
    scheme(0x0709, "gostr34102012_256a", Gost, "streebog256"),
    scheme(0x070a, "gostr34102012_256b", Gost, "streebog256"),
    scheme(0x070b, "gostr34102012_256c", Gost, "streebog256"),
    scheme(0x070c, "gostr34102012_256d", Gost, "streebog256"),
    scheme(0x070d, "gostr34102012_512a", Gost, "streebog512"),
    scheme(0x070e, "gostr34102012_512b", Gost, "streebog512"),
    scheme(0x070f, "gostr34102012_512c", Gost, "streebog512"),
    scheme(0x0804, "rsa_pss_rsae_sha256", RsaPssRsae, "sha256"),
    scheme(0x0805, "rsa_pss_rsae_sha384", RsaPssRsae, "sha384"),
    scheme(0x0806, "rsa_pss_rsae_sha512", RsaPssRsae, "sha512"),
    scheme(0x0807, "ed25519", Eddsa, ""),
    scheme(0x0808, "ed448", Eddsa, ""),
    scheme(0x0809, "rsa_pss_pss_sha256", RsaPssPss, "sha256"),
    scheme(0x080a, "rsa_pss_pss_sha384", RsaPssPss, "sha384"),
    scheme(0x080b, "rsa_pss_pss_sha512", RsaPssPss, "sha512"),
    scheme(0x081a, "ecdsa_brainpoolP256r1tls13_sha256", Ecdsa, "sha256"),
    scheme(0x081b, "ecdsa_brainpoolP384r1tls13_sha384", Ecdsa, "sha384"),
    scheme(0x081c, "ecdsa_brainpoolP512r1tls13_sha512", Ecdsa, "sha512"),
    scheme(0x0840, "gostr34102012_256_intrinsic", Gost, "streebog256"),
    scheme(0x0841, "gostr34102012_512_intrinsic", Gost, "streebog512"),
    scheme(0x0904, "mldsa44", MlDsa, ""),
    scheme(0x0905, "mldsa65", MlDsa, ""),
    scheme(0x0906, "mldsa87", MlDsa, ""),
    scheme(0xeded, "gostr34102001_gostr3411", Gost, "gostr3411"),
    scheme(0xeeee, "gostr34102012_256_gostr34112012_256", Gost, "streebog256"),
    scheme(0xefef, "gostr34102012_512_gostr34112012_512", Gost, "streebog512"),
];

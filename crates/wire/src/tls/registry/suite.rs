//! What a cipher suite is made of.

use super::version::Version;

/// How the two sides come to a common secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyExchange {
    /// Only `TLS_NULL_WITH_NULL_NULL`: the state before a handshake.
    Null,
    /// The client encrypts to the key of the certificate: no forward secrecy.
    Rsa,
    /// Static Diffie-Hellman, the key is in the certificate.
    Dh,
    Dhe,
    /// Static ECDH, the key is in the certificate.
    Ecdh,
    Ecdhe,
    Psk,
    DhePsk,
    EcdhePsk,
    RsaPsk,
    Srp,
    Krb5,
    Gost,
    Fortezza,
    /// RFC 8492.
    Eccpwd,
    /// Google's experiment of 2016: X25519 with New Hope.
    Cecpq1,
    /// TLS 1.3: the suite does not say.
    Any,
}

/// By what the server proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Authentication {
    Null,
    /// Nobody is authenticated: anybody on the way can be the server.
    Anon,
    Rsa,
    Dss,
    Ecdsa,
    Psk,
    Srp,
    Krb5,
    Gost,
    Fortezza,
    Eccpwd,
    /// TLS 1.3: the suite does not say.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cipher {
    /// No encryption at all.
    Null,
    Rc2,
    Rc4,
    Des,
    TripleDes,
    Idea,
    Seed,
    Skipjack,
    Aes,
    Camellia,
    Aria,
    ChaCha20,
    Sm4,
    Aegis128L,
    Aegis256,
    Gost28147,
    Magma,
    Kuznyechik,
}

impl Cipher {
    /// Bits of a block, where it is a block cipher. Those of 64 bits are exposed to Sweet32 (CVE-2016-2183).
    pub const fn block_bits(self) -> Option<u16> {
        match self {
            Self::Null | Self::Rc4 | Self::ChaCha20 | Self::Aegis128L | Self::Aegis256 => None,
            Self::Rc2
            | Self::Des
            | Self::TripleDes
            | Self::Idea
            | Self::Skipjack
            | Self::Gost28147
            | Self::Magma => Some(64),
            Self::Seed | Self::Aes | Self::Camellia | Self::Aria | Self::Sm4 | Self::Kuznyechik => Some(128),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    Null,
    Stream,
    Cbc,
    Gcm,
    Ccm,
    /// CCM with a tag of eight bytes.
    Ccm8,
    Poly1305,
    Aegis,
    Cnt,
    Ctr,
    Mgm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mac {
    Null,
    Md5,
    Sha1,
    Sha256,
    Sha384,
    /// Of draft-ietf-tls-openpgp-keys-05, which yaSSL took up and IANA never did.
    Ripemd160,
    /// The cipher's own tag.
    Aead,
    Gost3411,
    Imit,
    Omac,
}

/// One row of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CipherSuite {
    pub code: u16,
    /// In IANA's spelling; what was never registered carries the name under which it is known.
    pub name: &'static str,
    /// In OpenSSL's spelling, if any OpenSSL had it.
    pub openssl_name: Option<&'static str>,
    pub key_exchange: KeyExchange,
    pub authentication: Authentication,
    pub cipher: Cipher,
    pub mode: Mode,
    pub mac: Mac,
    /// Work to find the key, as a power of two: 112 for 3DES (NIST SP 800-57 part 1, table 2), 40 or 56 for EXPORT.
    pub strength_bits: u16,
    /// The oldest version under which servers have been seen to use it, which RFCs may forbid: some took SHA-1
    /// suites of elliptic curves under SSL 3.0, and EXPORT under TLS 1.2.
    pub version_min: Version,
    pub version_max: Version,
    /// Made weak on purpose, for the export rules of the nineties: FREAK, Logjam.
    pub is_export: bool,
    /// Never in IANA's registry, or reserved there without a name.
    pub is_legacy: bool,
}

impl CipherSuite {
    /// It encrypts nothing.
    pub const fn is_null(&self) -> bool {
        matches!(self.cipher, Cipher::Null)
    }

    /// Nobody is authenticated.
    pub const fn is_anon(&self) -> bool {
        matches!(self.authentication, Authentication::Anon)
    }

    /// A key that is stolen later does not open what was recorded before.
    pub const fn has_forward_secrecy(&self) -> bool {
        use KeyExchange as K;
        matches!(
            self.key_exchange,
            K::Dhe | K::Ecdhe | K::DhePsk | K::EcdhePsk | K::Srp | K::Eccpwd | K::Cecpq1 | K::Any
        )
    }

    pub fn works_with(&self, version: Version) -> bool {
        (self.version_min..=self.version_max).contains(&version)
    }
}

type Versions = (Version, Version);
pub(super) const SSL3: Versions = (Version::SSL3, Version::SSL3);
pub(super) const SSL3_TLS12: Versions = (Version::SSL3, Version::TLS12);
pub(super) const TLS10_TLS12: Versions = (Version::TLS10, Version::TLS12);
pub(super) const TLS12: Versions = (Version::TLS12, Version::TLS12);
pub(super) const TLS13: Versions = (Version::TLS13, Version::TLS13);

/// `is_export`, `is_legacy`.
type Kind = (bool, bool);
pub(super) const IANA: Kind = (false, false);
pub(super) const EXPORT: Kind = (true, false);
pub(super) const LEGACY: Kind = (false, true);
pub(super) const LEGACY_EXPORT: Kind = (true, true);

/// A row of the table. An empty `openssl_name` says that OpenSSL never had the suite.
#[allow(clippy::too_many_arguments)] // A row has as many columns as it has.
pub(super) const fn suite(
    code: u16,
    name: &'static str,
    openssl_name: &'static str,
    key_exchange: KeyExchange,
    authentication: Authentication,
    cipher: Cipher,
    mode: Mode,
    mac: Mac,
    strength_bits: u16,
    versions: Versions,
    kind: Kind,
) -> CipherSuite {
    CipherSuite {
        code,
        name,
        openssl_name: if openssl_name.is_empty() { None } else { Some(openssl_name) },
        key_exchange,
        authentication,
        cipher,
        mode,
        mac,
        strength_bits,
        version_min: versions.0,
        version_max: versions.1,
        is_export: kind.0,
        is_legacy: kind.1,
    }
}

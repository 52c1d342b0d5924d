//! Keys: making them, opening them, comparing them with certificates.

use openssl::base64::encode_block;
use openssl::ec::{Asn1Flag, EcGroup, EcKey};
use openssl::nid::Nid;
use openssl::pkey::{HasPublic, Id, PKey, PKeyRef, Private};
use openssl::rand::rand_priv_bytes;
use openssl::rsa::Rsa;
use openssl::x509::X509;
use secrecy::SecretString;
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Result, TrustError, usage};
use crate::inspect::{certificates, name_text};

/// Shortest RSA key we make, in bits: shorter ones are refused by OpenSSL's default security level of today.
pub const RSA_BITS_MIN: u32 = 2048;

/// Longest RSA key we make, in bits: a longer one takes minutes to make and slows down every handshake.
pub const RSA_BITS_MAX: u32 = 8192;

/// Random bytes in a generated passphrase.
const PASSPHRASE_RANDOM_BYTES: usize = 32;

/// Which kind of key to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA on the curve P-256: short, fast, and understood by every server and client since MySQL 5.6.
    #[default]
    EcP256,
    /// RSA, for clients that know nothing else.
    Rsa {
        /// Length, from [`RSA_BITS_MIN`] to [`RSA_BITS_MAX`].
        bits: u32,
    },
}

impl std::fmt::Display for KeyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EcP256 => f.write_str("ECDSA P-256"),
            Self::Rsa { bits } => write!(f, "RSA of {bits} bits"),
        }
    }
}

impl KeyKind {
    /// The words with which `openssl req` makes such a key.
    pub fn openssl_words(self) -> String {
        match self {
            Self::EcP256 => "-newkey ec -pkeyopt ec_paramgen_curve:P-256".into(),
            Self::Rsa { bits } => format!("-newkey rsa:{bits}"),
        }
    }

    pub(crate) fn check(self) -> Result<()> {
        match self {
            KeyKind::Rsa { bits } if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) => Err(usage(
                format!("an RSA key of {bits} bits cannot be made"),
                format!("the length must be from {RSA_BITS_MIN} to {RSA_BITS_MAX} bits"),
                "take 3072 bits, or the default EC P-256",
            )),
            _ => Ok(()),
        }
    }

    pub(crate) fn generate(self) -> Result<PKey<Private>> {
        self.check()?;
        Ok(match self {
            KeyKind::EcP256 => {
                let mut group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
                group.set_asn1_flag(Asn1Flag::NAMED_CURVE);
                PKey::from_ec_key(EcKey::generate(&group)?)?
            }
            KeyKind::Rsa { bits } => PKey::from_rsa(Rsa::generate(bits)?)?,
        })
    }
}

/// A passphrase that nobody can guess: 32 random bytes in the URL-safe base64 alphabet, 43 characters.
pub fn generate_passphrase() -> SecretString {
    let mut random = Zeroizing::new([0; PASSPHRASE_RANDOM_BYTES]);
    rand_priv_bytes(random.as_mut_slice()).expect("OpenSSL's generator is seeded by the system");
    let standard = Zeroizing::new(encode_block(random.as_slice()));
    let url_safe = standard.trim_end_matches('=').chars().map(|character| match character {
        '+' => '-',
        '/' => '_',
        other => other,
    });
    // The exact capacity, so that no copy is left behind by growing or shrinking.
    let mut text = String::with_capacity(standard.trim_end_matches('=').len());
    text.extend(url_safe);
    SecretString::from(text)
}

/// Checks that a private key belongs to the first certificate of a PEM file.
///
/// # Errors
/// [`TrustError::KeyMismatch`] if it does not; [`TrustError::KeyIsEncrypted`] if the key cannot be read without a
/// passphrase; else that one of the two cannot be read.
pub fn pair_matches(cert_pem: &[u8], key_pem: &[u8]) -> Result<()> {
    let certificates = certificates(cert_pem)?;
    let certificate = certificates
        .first()
        .ok_or_else(|| TrustError::NotACertificate { why: "the file is empty".to_owned() })?;
    is_of(certificate, &private_key(key_pem)?)
}

/// The same of an opened key and the first of these certificates.
pub(crate) fn belongs(certificates: &[X509], private: &PKey<Private>) -> Result<()> {
    certificates.first().map_or(Ok(()), |certificate| is_of(certificate, private))
}

fn is_of(certificate: &X509, private: &PKey<Private>) -> Result<()> {
    let public = certificate.public_key()?;
    if public.public_eq(private) {
        return Ok(());
    }
    Err(TrustError::KeyMismatch {
        subject: name_text(certificate.subject_name()),
        certificate_key: key_text(&public),
        private_key: key_text(private),
    })
}

/// A plain private key. Never asks for a passphrase on the terminal.
pub(crate) fn private_key(key_pem: &[u8]) -> Result<PKey<Private>> {
    if is_encrypted(key_pem) {
        return Err(TrustError::KeyIsEncrypted);
    }
    PKey::private_key_from_pem_callback(key_pem, |_| Ok(0)).map_err(|error| {
        let has_begin = key_pem.windows(b"PRIVATE KEY-----".len()).any(|part| part == b"PRIVATE KEY-----");
        TrustError::NotAKey {
            why: if has_begin {
                format!("OpenSSL says: {error}")
            } else {
                "there is no line -----BEGIN PRIVATE KEY-----".to_owned()
            },
        }
    })
}

/// True for PKCS#8 encryption, and for the old `Proc-Type: 4,ENCRYPTED`.
pub(crate) fn is_encrypted(key_pem: &[u8]) -> bool {
    [&b"BEGIN ENCRYPTED PRIVATE KEY"[..], b"Proc-Type: 4,ENCRYPTED"]
        .iter()
        .any(|mark| key_pem.windows(mark.len()).any(|part| part == *mark))
}

/// The key as PKCS#8 PEM, without a second copy in memory.
pub(crate) fn plain_pem(key: &PKeyRef<Private>) -> Result<SecretString> {
    match String::from_utf8(key.private_key_to_pem_pkcs8()?) {
        Ok(text) => Ok(SecretString::from(text)),
        Err(error) => {
            error.into_bytes().zeroize();
            Err(TrustError::NotAKey { why: "OpenSSL wrote a PEM that is no text".to_owned() })
        }
    }
}

/// A key in words: `EC P-256`, `RSA 2048`, `Ed25519`.
pub(crate) fn key_text<T: HasPublic>(key: &PKeyRef<T>) -> String {
    match key.id() {
        Id::RSA => match key.rsa().ok().map(|rsa| rsa.e().to_vec()) {
            // RFC 8017 3.1: odd, and at least 3. With 1 nothing is encrypted.
            Some(exponent) if exponent.last().is_none_or(|low| low % 2 == 0) || exponent == [1] => {
                format!("RSA {}, exponent no odd number over 1", key.bits())
            }
            _ => format!("RSA {}", key.bits()),
        },
        Id::RSA_PSS => format!("RSA-PSS {}", key.bits()),
        Id::DSA => format!("DSA {}", key.bits()),
        Id::ED25519 => "Ed25519".to_owned(),
        Id::ED448 => "Ed448".to_owned(),
        Id::EC => match key.ec_key().ok().and_then(|key| key.group().curve_name()) {
            Some(Nid::X9_62_PRIME256V1) => "EC P-256".to_owned(),
            Some(Nid::SECP384R1) => "EC P-384".to_owned(),
            Some(Nid::SECP521R1) => "EC P-521".to_owned(),
            Some(curve) => format!("EC {}", curve.short_name().unwrap_or("unnamed curve")),
            None => "EC with explicit parameters".to_owned(),
        },
        other => format!("unknown kind {}, {} bits", other.as_raw(), key.bits()),
    }
}

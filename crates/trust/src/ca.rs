//! A certificate authority of our own, and the leaves it issues.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::BigNum;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, PKeyRef, Private};
use openssl::rand::rand_bytes;
use openssl::symm::Cipher;
use openssl::x509::extension::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName,
    SubjectKeyIdentifier,
};
use openssl::x509::{X509, X509Builder, X509Name, X509NameRef};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::der;
use crate::error::{Result, TrustError, usage};
use crate::file::{FileError, write_atomically};
use crate::inspect::{certificates, name_text, unix_time};
use crate::key::{KeyKind, is_encrypted, plain_pem};

/// Name of the CA's certificate in its directory.
pub const CA_CERT_FILE: &str = "ca.pem";

/// Name of the CA's encrypted key in its directory.
pub const CA_KEY_FILE: &str = "ca-key.pem";

/// A new certificate is valid from this many seconds before now, for nodes whose clock is behind.
pub const CLOCK_SKEW_S: i64 = 300;

/// Longest validity, in days: a hundred years. More is a typing mistake.
pub const VALID_DAYS_MAX: u32 = 36_525;

const SECONDS_PER_DAY: i64 = 86_400;

/// Longest common name, in characters.
// Source: RFC 5280, appendix A: ub-common-name 64; OpenSSL enforces it.
const COMMON_NAME_CHARS_MAX: usize = 64;

/// Longest DNS name, in bytes (RFC 1035).
const DNS_BYTES_MAX: usize = 253;

/// Longest passphrase, in bytes: OpenSSL reads one into 1024 bytes.
const PASSPHRASE_BYTES_MAX: usize = 1000;

const SERIAL_BYTES: usize = 16;

/// What a new CA shall be.
#[derive(Clone, Debug)]
pub struct CaSpec {
    /// Common name, 1 to 64 characters. No leaf may have the same one.
    pub common_name: String,
    /// Valid for this many days from now, 1 to [`VALID_DAYS_MAX`].
    pub valid_days: u32,
    /// Kind of key.
    pub key: KeyKind,
}

/// What a new leaf shall be.
#[derive(Clone, Debug)]
pub struct LeafSpec {
    /// Common name, 1 to 64 characters, not that of the CA.
    pub common_name: String,
    /// DNS names in subjectAltName; a leading `*.` is allowed.
    pub dns: Vec<String>,
    /// IP addresses in subjectAltName.
    pub ips: Vec<IpAddr>,
    /// Valid for this many days from now, 1 to [`VALID_DAYS_MAX`], but not longer than the CA.
    pub valid_days: u32,
    /// Kind of key.
    pub key: KeyKind,
    /// Valid from, in seconds since 1970, instead of [`CLOCK_SKEW_S`] before now.
    pub not_before_unix: Option<i64>,
    /// Valid until, in seconds since 1970, instead of `valid_days`; taken as it is, also beyond the end of the CA.
    pub not_after_unix: Option<i64>,
}

/// A certificate and its key, for one server.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The certificate as PEM, without the CA's.
    pub cert_pem: String,
    /// The key as unencrypted PKCS#8 PEM.
    pub key_pem: SecretString,
}

/// A certificate authority with its key in memory.
pub struct Ca {
    cert: X509,
    key: PKey<Private>,
    cert_pem: String,
}

impl Ca {
    /// Makes a new CA: a key, and a certificate signed with it. `now_unix` is the time in seconds since 1970.
    ///
    /// # Errors
    /// [`TrustError::Usage`] for a specification outside of its limits.
    pub fn create(spec: &CaSpec, now_unix: i64) -> Result<Ca> {
        check_common_name(&spec.common_name)?;
        let not_after_unix = end_after_days(now_unix, spec.valid_days)?;
        let key = spec.key.generate()?;
        let name = common_name(&spec.common_name)?;
        let mut builder = builder(&name, &name, &key, now_unix - CLOCK_SKEW_S, not_after_unix)?;
        // pathlen 0: this CA signs leaves only, so a stolen leaf key cannot become a CA.
        builder.append_extension(BasicConstraints::new().critical().ca().pathlen(0).build()?)?;
        builder.append_extension(KeyUsage::new().critical().key_cert_sign().crl_sign().build()?)?;
        let key_id = SubjectKeyIdentifier::new().build(&builder.x509v3_context(None, None))?;
        builder.append_extension(key_id)?;
        builder.sign(&key, MessageDigest::sha256())?;
        Ca::from_parts(builder.build(), key)
    }

    /// Writes `ca.pem` (mode 0644) and `ca-key.pem` (mode 0600; PKCS#8, AES-256-CBC, PBKDF2) into `dir` (mode 0700, made
    /// if missing). Each file is complete or absent. Saving the same CA again only renews the key's encryption.
    ///
    /// # Errors
    /// [`TrustError::Refused`] if another CA lies there or others may enter the directory; [`TrustError::Usage`] for a
    /// passphrase that is empty or longer than 1000 bytes; [`TrustError::File`].
    pub fn save(&self, dir: &Path, passphrase: &SecretString) -> Result<()> {
        check_passphrase(passphrase)?;
        make_private_dir(dir)?;
        let cert_path = dir.join(CA_CERT_FILE);
        match fs::read(&cert_path) {
            Ok(bytes) if bytes == self.cert_pem.as_bytes() => {}
            Ok(_) => {
                return Err(TrustError::Refused {
                    what: format!("{} holds another CA", dir.display()),
                    why: "its key would be lost, and with it every certificate it could still renew"
                        .to_owned(),
                    next: "name another directory, or move the old CA away yourself".to_owned(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FileError::io("read", &cert_path, error).into()),
        }
        let secret = passphrase.expose_secret().as_bytes();
        let key_pem =
            Zeroizing::new(self.key.private_key_to_pem_pkcs8_passphrase(Cipher::aes_256_cbc(), secret)?);
        // The certificate comes last: where it lies, its key lies too.
        write_atomically(&dir.join(CA_KEY_FILE), &key_pem, 0o600, None)?;
        write_atomically(&cert_path, self.cert_pem.as_bytes(), 0o644, None)?;
        Ok(())
    }

    /// Opens a CA that [`Ca::save`] wrote, or another one with the same two files.
    ///
    /// # Errors
    /// [`TrustError::WrongPassphrase`], [`TrustError::KeyMismatch`], [`TrustError::Refused`] for a key that is not
    /// encrypted or a certificate that is not a CA's, [`TrustError::File`].
    pub fn open(dir: &Path, passphrase: &SecretString) -> Result<Ca> {
        check_passphrase(passphrase)?;
        let read = |name: &str| {
            let path = dir.join(name);
            let bytes = fs::read(&path).map_err(|error| FileError::io("read", &path, error))?;
            Ok::<_, TrustError>((path, Zeroizing::new(bytes)))
        };
        let (cert_path, cert_pem) = read(CA_CERT_FILE)?;
        let (key_path, key_pem) = read(CA_KEY_FILE)?;
        let cert = certificates(&cert_pem)?.swap_remove(0);
        if !der::is_ca(&cert.to_der()?) {
            return Err(TrustError::Refused {
                what: format!("{} is not the certificate of a CA", cert_path.display()),
                why:
                    "it has no basicConstraints CA:TRUE, so no client would accept certificates signed by it"
                        .to_owned(),
                next: "name the directory of a CA, or create one".to_owned(),
            });
        }
        if !is_encrypted(&key_pem) {
            return Err(TrustError::Refused {
                what: format!("{} is not encrypted", key_path.display()),
                why: "whoever reads the file could sign for every server".to_owned(),
                next: "openssl pkcs8 -topk8 -v2 aes-256-cbc -in KEY -out ENCRYPTED_KEY".to_owned(),
            });
        }
        let key = PKey::private_key_from_pem_passphrase(&key_pem, passphrase.expose_secret().as_bytes())
            .map_err(|_| TrustError::WrongPassphrase { path: key_path })?;
        Ca::from_parts(cert, key)
    }

    /// The CA's certificate as PEM.
    pub fn cert_pem(&self) -> String {
        self.cert_pem.clone()
    }

    /// Makes a key and a certificate for one server: for TLS servers and clients alike (Galera needs both). `now_unix` is
    /// the time in seconds since 1970.
    ///
    /// # Errors
    /// [`TrustError::Usage`] for a specification outside of its limits, and if the CA itself is over.
    pub fn issue(&self, spec: &LeafSpec, now_unix: i64) -> Result<Leaf> {
        self.issue_for(spec, now_unix, true)
    }

    /// The same for somebody who is a TLS client only: with its certificate nobody is taken for a server.
    ///
    /// # Errors
    /// As [`Ca::issue`].
    pub fn issue_client(&self, spec: &LeafSpec, now_unix: i64) -> Result<Leaf> {
        self.issue_for(spec, now_unix, false)
    }

    fn issue_for(&self, spec: &LeafSpec, now_unix: i64, is_server: bool) -> Result<Leaf> {
        self.check_leaf(spec)?;
        let not_before_unix = spec.not_before_unix.unwrap_or(now_unix - CLOCK_SKEW_S);
        let not_after_unix = match spec.not_after_unix {
            Some(end) => end,
            None => end_after_days(now_unix, spec.valid_days)?.min(unix_time(self.cert.not_after())?),
        };
        if not_before_unix >= not_after_unix {
            return Err(usage(
                format!("the certificate of {} would never be valid", spec.common_name),
                format!(
                    "it would begin at {not_before_unix} and end at {not_after_unix} (seconds since 1970)"
                ),
                "choose an end after the beginning; if the CA itself has expired, create a new one",
            ));
        }
        let key = spec.key.generate()?;
        let name = common_name(&spec.common_name)?;
        let mut builder = builder(&name, self.cert.subject_name(), &key, not_before_unix, not_after_unix)?;
        builder.append_extension(BasicConstraints::new().critical().build()?)?;
        let mut key_usage = KeyUsage::new();
        key_usage.critical().digital_signature();
        if matches!(spec.key, KeyKind::Rsa { .. }) {
            key_usage.key_encipherment();
        }
        builder.append_extension(key_usage.build()?)?;
        let mut purposes = ExtendedKeyUsage::new();
        if is_server {
            purposes.server_auth();
        }
        builder.append_extension(purposes.client_auth().build()?)?;
        let context = builder.x509v3_context(Some(&self.cert), None);
        let mut extensions = vec![
            SubjectKeyIdentifier::new().build(&context)?,
            AuthorityKeyIdentifier::new().keyid(true).build(&context)?,
        ];
        if !spec.dns.is_empty() || !spec.ips.is_empty() {
            let mut names = SubjectAlternativeName::new();
            for dns in &spec.dns {
                names.dns(dns);
            }
            for ip in &spec.ips {
                names.ip(&ip.to_string());
            }
            extensions.push(names.build(&context)?);
        }
        for extension in extensions {
            builder.append_extension(extension)?;
        }
        builder.sign(&self.key, MessageDigest::sha256())?;
        Ok(Leaf { cert_pem: pem_text(&builder.build())?, key_pem: plain_pem(&key)? })
    }

    fn from_parts(cert: X509, key: PKey<Private>) -> Result<Ca> {
        let public = cert.public_key()?;
        if !public.public_eq(&key) {
            return Err(TrustError::KeyMismatch {
                subject: name_text(cert.subject_name()),
                certificate_key: crate::key::key_text(&public),
                private_key: crate::key::key_text(&key),
            });
        }
        let cert_pem = pem_text(&cert)?;
        Ok(Ca { cert, key, cert_pem })
    }

    fn check_leaf(&self, spec: &LeafSpec) -> Result<()> {
        check_common_name(&spec.common_name)?;
        // Source: MySQL 8.0 manual, 6.3.3.2: with the same common name for CA and server, OpenSSL takes the server's
        // certificate for a self-signed one, and the connection fails.
        let is_own = |entry: &str| entry == spec.common_name;
        if self
            .cert
            .subject_name()
            .entries_by_nid(Nid::COMMONNAME)
            .any(|entry| entry.data().to_string().is_ok_and(|text| is_own(&text)))
        {
            return Err(usage(
                format!("the certificate cannot be named {:?}", spec.common_name),
                "the CA has the same common name, and OpenSSL would take it for its own issuer",
                "use the host name",
            ));
        }
        for dns in &spec.dns {
            check_dns(dns)?;
        }
        Ok(())
    }
}

/// Blind: says whose CA it is, never its key.
impl fmt::Debug for Ca {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ca")
            .field("subject", &name_text(self.cert.subject_name()))
            .finish_non_exhaustive()
    }
}

/// What CA and leaf have in common.
fn builder(
    subject: &X509NameRef,
    issuer: &X509NameRef,
    key: &PKeyRef<Private>,
    not_before_unix: i64,
    not_after_unix: i64,
) -> Result<X509Builder> {
    let mut builder = X509::builder()?;
    builder.set_version(2)?; // X.509 v3 is written as 2.
    builder.set_serial_number(serial()?.as_ref())?;
    builder.set_subject_name(subject)?;
    builder.set_issuer_name(issuer)?;
    builder.set_pubkey(key)?;
    builder.set_not_before(asn1_time(not_before_unix)?.as_ref())?;
    builder.set_not_after(asn1_time(not_after_unix)?.as_ref())?;
    Ok(builder)
}

/// A random number of 128 bits, positive and always of the same length.
fn serial() -> Result<Asn1Integer> {
    let mut bytes = [0; SERIAL_BYTES];
    rand_bytes(&mut bytes)?;
    if let Some(first) = bytes.first_mut() {
        *first = *first & 0x7f | 0x40;
    }
    Ok(BigNum::from_slice(&bytes)?.to_asn1_integer()?)
}

fn asn1_time(unix: i64) -> Result<Asn1Time> {
    // Source: RFC 5280, 4.1.2.5: years 0 to 9999. OpenSSL refuses the rest.
    Asn1Time::from_unix(unix).map_err(|_| {
        usage(
            format!("the time {unix} (seconds since 1970) cannot stand in a certificate"),
            "its year has more than four digits or is before 0",
            "choose a nearer date",
        )
    })
}

fn end_after_days(now_unix: i64, valid_days: u32) -> Result<i64> {
    if !(1..=VALID_DAYS_MAX).contains(&valid_days) {
        return Err(usage(
            format!("a certificate cannot be valid for {valid_days} days"),
            format!("the number must be from 1 to {VALID_DAYS_MAX}"),
            "take 365 for a server, 3650 for a CA",
        ));
    }
    Ok(now_unix.saturating_add(i64::from(valid_days) * SECONDS_PER_DAY))
}

pub(crate) fn common_name(text: &str) -> Result<X509Name> {
    let mut name = X509Name::builder()?;
    name.append_entry_by_nid(Nid::COMMONNAME, text)?;
    Ok(name.build())
}

pub(crate) fn check_common_name(name: &str) -> Result<()> {
    let chars = name.chars().count();
    if (1..=COMMON_NAME_CHARS_MAX).contains(&chars) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(usage(
        format!("{name:?} cannot be a common name"),
        format!(
            "it has {chars} characters; 1 to {COMMON_NAME_CHARS_MAX} are possible, without control characters"
        ),
        "put a long host name into the DNS names, and a short one here",
    ))
}

pub(crate) fn check_dns(name: &str) -> Result<()> {
    let host = name.strip_prefix("*.").unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if name.len() <= DNS_BYTES_MAX && host.split('.').all(is_label) {
        return Ok(());
    }
    Err(usage(
        format!("{name:?} cannot be a DNS name"),
        "a DNS name has labels of 1 to 63 letters, digits, '-' and '_', joined by dots, 253 bytes in all",
        "write an international name in its xn-- form, and an address as an IP address",
    ))
}

pub(crate) fn check_passphrase(passphrase: &SecretString) -> Result<()> {
    let bytes = passphrase.expose_secret().len();
    if (1..=PASSPHRASE_BYTES_MAX).contains(&bytes) {
        return Ok(());
    }
    Err(usage(
        "the passphrase of the CA's key cannot be used",
        format!("it has {bytes} bytes; 1 to {PASSPHRASE_BYTES_MAX} are possible"),
        "let sealion make one",
    ))
}

/// Makes the directory, or checks that only its owner may enter it.
pub(crate) fn make_private_dir(dir: &Path) -> Result<()> {
    match fs::metadata(dir) {
        Ok(metadata) if metadata.is_dir() && metadata.permissions().mode() & 0o077 != 0 => {
            Err(TrustError::Refused {
                what: format!("the CA cannot be kept in {}", dir.display()),
                why: format!(
                    "others may enter the directory (mode {:04o})",
                    metadata.permissions().mode() & 0o7777
                ),
                next: format!("chmod 0700 {}, or name another directory", dir.display()),
            })
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made.map_err(|error| FileError::io("create", dir, error).into())
        }
        Err(error) => Err(FileError::io("look at", dir, error).into()),
    }
}

pub(crate) fn pem_text(cert: &X509) -> Result<String> {
    let pem = cert.to_pem()?;
    String::from_utf8(pem)
        .map_err(|_| TrustError::NotACertificate { why: "OpenSSL wrote a PEM that is no text".to_owned() })
}

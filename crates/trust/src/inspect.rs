//! What stands in a certificate.

use std::fmt::Write;
use std::net::IpAddr;

use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::hash::{MessageDigest, hash};
use openssl::x509::{X509, X509ExtendedKeyUsage, X509NameRef, X509Ref};

use crate::der;
use crate::error::{Result, TrustError};
use crate::key::key_text;

/// Largest PEM file we read, in bytes. The bundle of all public CAs has about 250 KiB.
pub const PEM_BYTES_MAX: usize = 4 * 1024 * 1024;

const SECONDS_PER_DAY: i64 = 86_400;

/// One certificate, as plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateInfo {
    /// Subject, such as `CN=db1, O=Example`, in the order of the certificate.
    pub subject: String,
    /// Issuer, in the same form.
    pub issuer: String,
    /// Serial number, upper-case hex without separators.
    pub serial_hex: String,
    /// Valid from, in seconds since 1970.
    pub not_before_unix: i64,
    /// Valid until, in seconds since 1970.
    pub not_after_unix: i64,
    /// DNS names in subjectAltName. What is escaped in them has a `\`, which no host name has: a name that fits a host is
    /// byte for byte that of the certificate.
    pub dns: Vec<String>,
    /// IP addresses in subjectAltName.
    pub ips: Vec<IpAddr>,
    /// The public key in words: `EC P-256`, `RSA 2048`, `Ed25519`.
    pub key: String,
    /// Size of the public key in bits; 0 where that says nothing.
    pub key_bits: u32,
    /// How it is signed, in OpenSSL's words: `RSA-SHA256`, `ecdsa-with-SHA256`.
    pub signature: String,
    /// SHA-256 over the DER bytes, lower-case hex without separators.
    pub sha256_fingerprint: String,
    /// SHA-256 over the DER bytes of the SubjectPublicKeyInfo: the same for every certificate of one key.
    pub key_sha256: String,
    /// True if basicConstraints says CA:TRUE.
    pub is_ca: bool,
    /// True if a TLS server may use it: extendedKeyUsage says serverAuth, or is absent (no restriction).
    pub server_auth: bool,
    /// True if a TLS client may use it: extendedKeyUsage says clientAuth, or is absent (no restriction).
    pub client_auth: bool,
    /// True if it is signed with its own key.
    pub self_signed: bool,
}

/// Every certificate in a PEM file, in its order. Other PEM blocks and text between them are passed over.
///
/// # Errors
/// [`TrustError::NotACertificate`] if there is none, or if one cannot be read.
pub fn inspect(pem: &[u8]) -> Result<Vec<CertificateInfo>> {
    certificates(pem)?.iter().map(|certificate| info(certificate)).collect()
}

/// Every certificate of a chain as TLS carries it: DER, leaf first. An empty chain gives an empty list.
///
/// # Errors
/// [`TrustError::NotACertificate`] if one cannot be read.
pub fn inspect_der(chain: &[Vec<u8>]) -> Result<Vec<CertificateInfo>> {
    chain
        .iter()
        .map(|der| {
            let certificate = X509::from_der(der)
                .map_err(|error| TrustError::NotACertificate { why: format!("OpenSSL says: {error}") })?;
            info(&certificate)
        })
        .collect()
}

/// All certificates of a PEM file; at least one.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<X509>> {
    let unreadable = |why: String| TrustError::NotACertificate { why };
    if pem.len() > PEM_BYTES_MAX {
        return Err(unreadable(format!("they are {} bytes; the limit is {PEM_BYTES_MAX}", pem.len())));
    }
    let certificates =
        X509::stack_from_pem(pem).map_err(|error| unreadable(format!("OpenSSL says: {error}")))?;
    if certificates.is_empty() {
        return Err(unreadable("there is no line -----BEGIN CERTIFICATE-----".to_owned()));
    }
    Ok(certificates)
}

fn info(certificate: &X509Ref) -> Result<CertificateInfo> {
    let unreadable = |error| TrustError::NotACertificate { why: format!("OpenSSL says: {error}") };
    let public = certificate.public_key().map_err(unreadable)?;
    let mut dns = Vec::new();
    let mut ips = Vec::new();
    for name in certificate.subject_alt_names().into_iter().flatten() {
        if let Some(text) = name.dnsname() {
            dns.push(printable(text));
        } else if let Some(ip) = name.ipaddress().and_then(ip_address) {
            ips.push(ip);
        }
    }
    let usage = certificate.extended_key_usage();
    let allows = |purpose| usage.is_none_or(|usage| usage.contains(purpose));
    let is_own_issuer = name_text(certificate.subject_name()) == name_text(certificate.issuer_name());
    Ok(CertificateInfo {
        subject: name_text(certificate.subject_name()),
        issuer: name_text(certificate.issuer_name()),
        serial_hex: certificate.serial_number().to_bn()?.to_hex_str()?.to_string(),
        not_before_unix: unix_time(certificate.not_before()).map_err(unreadable)?,
        not_after_unix: unix_time(certificate.not_after()).map_err(unreadable)?,
        dns,
        ips,
        key: key_text(&public),
        key_bits: public.bits(),
        signature: certificate
            .signature_algorithm()
            .object()
            .nid()
            .long_name()
            .map_or_else(|_| certificate.signature_algorithm().object().to_string(), str::to_owned),
        sha256_fingerprint: hex(&certificate.digest(MessageDigest::sha256())?),
        key_sha256: hex(&hash(MessageDigest::sha256(), &public.public_key_to_der()?)?),
        is_ca: der::is_ca(&certificate.to_der()?),
        server_auth: allows(X509ExtendedKeyUsage::SSL_SERVER),
        client_auth: allows(X509ExtendedKeyUsage::SSL_CLIENT),
        self_signed: is_own_issuer && certificate.verify(&public).unwrap_or(false),
    })
}

/// The text of a certificate with everything escaped that could move a cursor, reorder or forge a line of our output, as
/// `wire::printable` does it; never cut, so that different texts stay different.
fn printable(text: &str) -> String {
    let is_harmless = |each: char| match each {
        ' ' => true,
        '\\' => false,
        _ if each.is_ascii() => each.is_ascii_graphic(),
        _ => each.is_alphanumeric(),
    };
    let mut out = String::with_capacity(text.len());
    for each in text.chars() {
        if is_harmless(each) {
            out.push(each);
        } else {
            out.extend(each.escape_default());
        }
    }
    out
}

/// A name as `CN=db1, O=Example`.
pub(crate) fn name_text(name: &X509NameRef) -> String {
    let parts: Vec<String> = name
        .entries()
        .map(|entry| {
            let key = entry.object().nid().short_name().unwrap_or("?");
            let value = entry.data().to_string();
            let value =
                value.unwrap_or_else(|_| String::from_utf8_lossy(entry.data().as_slice()).into_owned());
            // As RFC 4514 has it: what stands between ", " and ", " is one attribute, whatever a value holds.
            format!("{key}={}", printable(&value).replace(',', "\\2C"))
        })
        .collect();
    if parts.is_empty() { "(an empty name)".to_owned() } else { parts.join(", ") }
}

pub(crate) fn unix_time(time: &Asn1TimeRef) -> std::result::Result<i64, openssl::error::ErrorStack> {
    let epoch = Asn1Time::from_unix(0)?;
    let since = epoch.diff(time)?;
    Ok(i64::from(since.days) * SECONDS_PER_DAY + i64::from(since.secs))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn ip_address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes)
        .map(IpAddr::from)
        .or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

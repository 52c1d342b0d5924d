//! Whether a certificate would be accepted by the other end of a connection, at a given time.

use std::ffi::c_int;

use openssl::asn1::Asn1Time;
use openssl::stack::Stack;
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::verify::X509VerifyParam;
use openssl::x509::{X509, X509PurposeId, X509Ref, X509StoreContext};

use crate::error::{Result, TrustError};
use crate::inspect::{certificates, name_text};

// Source: openssl/x509_vfy.h. The `openssl` crate has no names for them.
const ISSUER_MISSING: c_int = 2;
const SIGNATURE_FAILED: c_int = 7;
const NOT_YET_VALID: c_int = 9;
const EXPIRED: c_int = 10;
const SELF_SIGNED_LEAF: c_int = 18;
const SELF_SIGNED_IN_CHAIN: c_int = 19;
const ISSUER_MISSING_LOCALLY: c_int = 20;
const LEAF_UNVERIFIED: c_int = 21;
const INVALID_PURPOSE: c_int = 26;
const AUTHORITY_KEY_ID_MISMATCH: c_int = 30;

/// Checks the first certificate of a PEM file against a CA bundle as OpenSSL in a server does: as a TLS server and as a
/// TLS client, since a Galera node is both. Further certificates in the file are intermediates. A host name is not
/// checked; revocation neither.
///
/// `at_unix` is the time to judge at, in seconds since 1970.
///
/// # Errors
/// [`TrustError::UnknownCa`], [`TrustError::Expired`], [`TrustError::NotYetValid`], [`TrustError::WrongPurpose`] or
/// [`TrustError::ChainBroken`], each about the certificate of the chain it is true for.
pub fn chain_ok(cert_pem: &[u8], ca_bundle_pem: &[u8], at_unix: i64) -> Result<()> {
    chain_ok_at(cert_pem, ca_bundle_pem, at_unix, None)
}

/// OpenSSL's security level of Debian and of most others since 2019: no RSA below 2048 bits, no SHA-1.
/// Source: SSL_CTX_set_security_level(3).
const LEVEL: c_int = 2;

/// The same, and with the keys and signatures that OpenSSL takes by itself. Seen: stunnel of an SST refused a root of RSA 1024.
///
/// # Errors
/// As [`chain_ok`].
pub fn chain_serves(cert_pem: &[u8], ca_bundle_pem: &[u8], at_unix: i64) -> Result<()> {
    chain_ok_at(cert_pem, ca_bundle_pem, at_unix, Some(LEVEL))
}

/// Checks it as a server does that is shown it by a client: one for clients only holds, too.
///
/// # Errors
/// As [`chain_ok`].
pub fn client_chain_ok(cert_pem: &[u8], ca_bundle_pem: &[u8], at_unix: i64) -> Result<()> {
    holds_as(&[(X509PurposeId::SSL_CLIENT, "client")], cert_pem, ca_bundle_pem, at_unix, None)
}

/// Checks it as a client does that trusts this bundle: one for servers only holds, too.
pub(crate) fn server_holds(cert_pem: &[u8], ca_bundle_pem: &[u8], at_unix: i64) -> Result<()> {
    holds_as(&[(X509PurposeId::SSL_SERVER, "server")], cert_pem, ca_bundle_pem, at_unix, None)
}

fn chain_ok_at(cert_pem: &[u8], ca_bundle_pem: &[u8], at_unix: i64, level: Option<c_int>) -> Result<()> {
    let both = [(X509PurposeId::SSL_SERVER, "server"), (X509PurposeId::SSL_CLIENT, "client")];
    holds_as(&both, cert_pem, ca_bundle_pem, at_unix, level)
}

fn holds_as(
    roles: &[(X509PurposeId, &'static str)],
    cert_pem: &[u8],
    ca_bundle_pem: &[u8],
    at_unix: i64,
    level: Option<c_int>,
) -> Result<()> {
    let mut given = certificates(cert_pem)?.into_iter();
    let leaf =
        given.next().ok_or_else(|| TrustError::NotACertificate { why: "the file is empty".to_owned() })?;
    let mut intermediates = Stack::new()?;
    for certificate in given {
        intermediates.push(certificate)?;
    }
    for (purpose, role) in roles {
        verify(&leaf, &intermediates, &store(ca_bundle_pem, at_unix, *purpose, level)?, role, at_unix)?;
    }
    Ok(())
}

/// Checks a chain as TLS carries it (DER, leaf first) as a client does that trusts this bundle. A host name is not checked;
/// revocation neither.
///
/// # Errors
/// As [`chain_ok`].
pub fn server_chain_ok(chain: &[Vec<u8>], ca_bundle_pem: &[u8], at_unix: i64) -> Result<()> {
    let read = |der: &Vec<u8>| {
        X509::from_der(der)
            .map_err(|error| TrustError::NotACertificate { why: format!("OpenSSL says: {error}") })
    };
    let (leaf, rest) = chain
        .split_first()
        .ok_or_else(|| TrustError::NotACertificate { why: "the chain is empty".to_owned() })?;
    let leaf = read(leaf)?;
    let mut intermediates = Stack::new()?;
    for der in rest {
        intermediates.push(read(der)?)?;
    }
    let store = store(ca_bundle_pem, at_unix, X509PurposeId::SSL_SERVER, None)?;
    verify(&leaf, &intermediates, &store, "server", at_unix)
}

/// Where distributions keep the CAs that they trust. Source: packages ca-certificates of Debian and Alpine,
/// ca-certificates of Fedora, ca-certificates-mozilla of SUSE.
pub const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The system's bundle, if it has one that we know the place of: the OpenSSL inside looks elsewhere.
pub fn system_bundle() -> Option<std::path::PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from);
    named.into_iter().chain(SYSTEM_BUNDLES.map(Into::into)).find(|path| path.is_file())
}

fn verify(
    leaf: &X509,
    intermediates: &Stack<X509>,
    store: &X509Store,
    role: &'static str,
    at_unix: i64,
) -> Result<()> {
    let mut context = X509StoreContext::new()?;
    // All that is to be said must be taken within the closure: afterwards the context is empty.
    context
        .init(store, leaf, intermediates, |context| {
            let holds = context.verify_cert()?;
            let culprit = context.current_cert().map_or_else(|| leaf.clone(), X509Ref::to_owned);
            Ok((!holds).then(|| (context.error().as_raw(), context.error().error_string(), culprit)))
        })
        .map_err(TrustError::from)?
        .map_or(Ok(()), |(code, words, culprit)| Err(judge(code, words, &culprit, role, at_unix)))
}

fn store(
    ca_bundle_pem: &[u8],
    at_unix: i64,
    purpose: X509PurposeId,
    level: Option<c_int>,
) -> Result<X509Store> {
    let mut param = X509VerifyParam::new()?;
    param.set_time(at_unix);
    param.set_purpose(purpose)?;
    if let Some(level) = level {
        param.set_auth_level(level);
    }
    let mut builder = X509StoreBuilder::new()?;
    builder.set_param(&param)?;
    for certificate in certificates(ca_bundle_pem)? {
        builder.add_cert(certificate)?;
    }
    Ok(builder.build())
}

fn judge(code: c_int, words: &str, culprit: &X509, role: &'static str, at_unix: i64) -> TrustError {
    let subject = name_text(culprit.subject_name());
    let at = Asn1Time::from_unix(at_unix).map_or_else(|_| at_unix.to_string(), |time| time.to_string());
    match code {
        ISSUER_MISSING
        | SELF_SIGNED_LEAF
        | SELF_SIGNED_IN_CHAIN
        | ISSUER_MISSING_LOCALLY
        | LEAF_UNVERIFIED
        | SIGNATURE_FAILED
        | AUTHORITY_KEY_ID_MISMATCH => {
            TrustError::UnknownCa { subject, issuer: name_text(culprit.issuer_name()), why: words.to_owned() }
        }
        EXPIRED => TrustError::Expired { subject, not_after: culprit.not_after().to_string(), at },
        NOT_YET_VALID => {
            TrustError::NotYetValid { subject, not_before: culprit.not_before().to_string(), at }
        }
        INVALID_PURPOSE => TrustError::WrongPurpose { subject, role },
        _ => TrustError::ChainBroken { subject, why: words.to_owned() },
    }
}

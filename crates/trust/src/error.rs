//! What can go wrong with certificates and keys, in words for the person who must act.

use std::path::PathBuf;

use openssl::error::ErrorStack;

use crate::file::FileError;

/// Shorthand for this crate.
pub type Result<T> = std::result::Result<T, TrustError>;

/// Why something about a certificate or key was refused or did not work.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The caller asked for something that cannot be.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Usage {
        /// The subject, with its value.
        what: String,
        /// The reason.
        why: String,
        /// What to do.
        next: String,
    },
    /// It could be done, but would destroy something or weaken a secret.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Refused {
        /// The subject, with its value.
        what: String,
        /// The reason.
        why: String,
        /// What to do.
        next: String,
    },
    /// The bytes hold no readable certificate.
    #[error(
        "no certificate can be read from these bytes\n  why:  {why}\n  next: give a PEM file with -----BEGIN CERTIFICATE-----"
    )]
    NotACertificate {
        /// The reason.
        why: String,
    },
    /// The bytes hold no readable private key.
    #[error(
        "no private key can be read from these bytes\n  why:  {why}\n  next: give a PEM file with -----BEGIN PRIVATE KEY-----"
    )]
    NotAKey {
        /// The reason.
        why: String,
    },
    /// The private key is encrypted, and a server could not read it without being asked for a passphrase.
    #[error(
        "the private key is encrypted\n  why:  a server that starts alone cannot give its passphrase\n  next: openssl pkey -in KEY -out PLAIN_KEY, and keep the plain one at mode 0600"
    )]
    KeyIsEncrypted,
    /// The CA's key does not open.
    #[error(
        "{} does not open\n  why:  the passphrase is wrong, or the file is damaged\n  next: check the passphrase; openssl pkey -in {} -noout says whether the file is sound",
        path.display(), path.display()
    )]
    WrongPassphrase {
        /// The key's file.
        path: PathBuf,
    },
    /// Certificate and key do not belong together.
    #[error(
        "the private key does not belong to the certificate of {subject}\n  why:  the certificate holds another public key ({certificate_key}; the private key is {private_key})\n  next: find the key that was made with this certificate, or issue a new pair"
    )]
    KeyMismatch {
        /// Subject of the certificate.
        subject: String,
        /// Kind of the key in the certificate.
        certificate_key: String,
        /// Kind of the private key.
        private_key: String,
    },
    /// Nobody in the CA bundle has signed the certificate.
    #[error(
        "the certificate of {subject} is not signed by any CA in the bundle\n  why:  it names the issuer {issuer}; {why}\n  next: add that CA to the bundle on every node, or issue the certificate from a CA in it"
    )]
    UnknownCa {
        /// Subject of the certificate whose issuer is missing.
        subject: String,
        /// Its issuer.
        issuer: String,
        /// OpenSSL's words.
        why: String,
    },
    /// The certificate, or one above it, is over.
    #[error(
        "the certificate of {subject} has expired\n  why:  it was valid until {not_after}; the time asked for is {at}\n  next: issue a new certificate"
    )]
    Expired {
        /// Subject of the expired certificate.
        subject: String,
        /// Its end, as OpenSSL writes times.
        not_after: String,
        /// The time it was judged at.
        at: String,
    },
    /// The certificate, or one above it, begins later.
    #[error(
        "the certificate of {subject} is not valid yet\n  why:  it is valid from {not_before}; the time asked for is {at}\n  next: compare the clocks of this machine and of the one that issued it"
    )]
    NotYetValid {
        /// Subject of the certificate.
        subject: String,
        /// Its beginning, as OpenSSL writes times.
        not_before: String,
        /// The time it was judged at.
        at: String,
    },
    /// The certificate may not be used on this end of a connection.
    #[error(
        "the certificate of {subject} may not be used by a TLS {role}\n  why:  its extensions do not allow it; a Galera node is server and client with the same certificate\n  next: issue it with extendedKeyUsage serverAuth and clientAuth"
    )]
    WrongPurpose {
        /// Subject of the certificate.
        subject: String,
        /// `server` or `client`.
        role: &'static str,
    },
    /// Any other reason why the chain does not hold.
    #[error(
        "the chain of the certificate of {subject} does not hold\n  why:  {why}\n  next: openssl verify -CAfile BUNDLE CERTIFICATE shows the same; issue a new certificate"
    )]
    ChainBroken {
        /// Subject of the certificate where it breaks.
        subject: String,
        /// OpenSSL's words.
        why: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// OpenSSL refused something that must work.
    #[error(
        "OpenSSL failed in an operation that should not fail\n  why:  {0}\n  next: this is a mistake in sealion or in its OpenSSL; please report it"
    )]
    Bug(#[from] ErrorStack),
}

pub(crate) fn usage(what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) -> TrustError {
    TrustError::Usage { what: what.into(), why: why.into(), next: next.into() }
}

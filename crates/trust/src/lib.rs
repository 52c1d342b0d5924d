//! Certificates and keys: a certificate authority of our own, leaves for servers, and honest answers about foreign ones.
//!
//! Secret bytes are wiped when dropped and never printed. The CA's key leaves memory only encrypted
//! ([`Ca::save`]). The clock is passed in as seconds since 1970, so that a test or a rehearsal can make it lie.
//!
//! Start with [`Ca::create`] and [`Ca::issue`]; [`inspect()`], [`pair_matches`] and [`chain_ok`] judge what others made;
//! [`file::write_atomically`] puts bytes on disk; [`Rollover`] has the files of a CA and of the one that replaces it, [`bundle`]
//! what trusts both; [`Clients`] is the CA of clients. Left out: revocation lists, intermediates of our own, key rotation as a procedure (that is a Change, in
//! `providers`).

pub mod bundle;
mod ca;
mod chain;
mod clients;
mod der;
mod elsewhere;
mod error;
pub mod file;
mod inspect;
mod key;
mod rollover;
pub mod usable;

pub use bundle::fingerprints;
pub use ca::{CA_CERT_FILE, CA_KEY_FILE, CLOCK_SKEW_S, Ca, CaSpec, Leaf, LeafSpec, VALID_DAYS_MAX};
pub use chain::{SYSTEM_BUNDLES, chain_ok, client_chain_ok, server_chain_ok, system_bundle};
pub use clients::{ClientLeaf, ClientSubject, Clients, Revoked};
pub use elsewhere::{Elsewhere, Imported, Request, Signer, import, request};
pub use error::{Result, TrustError};
pub use inspect::{CertificateInfo, PEM_BYTES_MAX, inspect, inspect_der};
pub use key::{KeyKind, RSA_BITS_MAX, RSA_BITS_MIN, generate_passphrase, pair_matches};
pub use rollover::Rollover;

//! `sealion trust`: what was made, taken or revoked.

use serde::{Deserialize, Serialize};

pub const TRUST_SCHEMA_ID: &str = "sealion/trust/1";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustReport {
    /// Always [`TRUST_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub cluster: String,
    /// `csr`, `import`, `client` or `revoke`: which command wrote this.
    pub command: String,
    pub requests: Vec<TrustRequestRow>,
    pub certificates: Vec<TrustCertificateRow>,
    pub revoked: Option<TrustRevokedRow>,
    /// SQL that sealion does not run by itself.
    pub statements: Vec<String>,
    pub not_asked: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRequestRow {
    pub name: String,
    pub file: String,
    /// With a key that was made now.
    pub is_new: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustCertificateRow {
    pub name: String,
    pub serial: String,
    pub not_after_unix: i64,
    pub file: Option<String>,
    pub key_file: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRevokedRow {
    pub name: String,
    pub subject: String,
    pub serials: Vec<String>,
    pub next_subject: String,
    /// Accounts that still take it.
    pub takers: Vec<TrustTakerRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustTakerRow {
    pub account: String,
    pub servers: Vec<String>,
    /// It names no subject, and takes every certificate.
    pub takes_all: bool,
}

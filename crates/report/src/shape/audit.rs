//! `sealion audit`: what servers said of themselves, judged.

use serde::{Deserialize, Serialize};

use super::FindingRow;

pub const AUDIT_SCHEMA_ID: &str = "sealion/audit/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Always [`AUDIT_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub servers: Vec<AuditServerRow>,
    /// How many findings have each verdict.
    pub failed: u64,
    pub unknown: u64,
    pub passed: u64,
    pub not_applicable: u64,
    /// Failed ones first, then unknown ones, each by severity.
    pub findings: Vec<FindingRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditServerRow {
    pub name: String,
    /// How it was reached.
    pub address: String,
    /// Whether the session of this audit was encrypted.
    pub is_tls: bool,
    pub flavour: Option<String>,
    pub version: Option<String>,
    /// The account that asked, as the server calls it.
    pub account: Option<String>,
    /// Why it was not asked, or not to the end.
    pub why_not: Option<String>,
}

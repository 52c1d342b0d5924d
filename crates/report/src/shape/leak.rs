//! `sealion audit --if`: what a thief of one thing could read.

use serde::{Deserialize, Serialize};

use super::{AuditServerRow, FindingRow};

pub const LEAK_SCHEMA_ID: &str = "sealion/audit-leak/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeakReport {
    /// Always [`LEAK_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// What somebody has got hold of.
    pub leak: String,
    /// As it was typed; only of `app-account`.
    pub account: Option<String>,
    pub servers: Vec<AuditServerRow>,
    /// What can be read, the most first.
    pub reads: Vec<LeakedRow>,
    /// What may be read: nobody could say.
    pub unknown: Vec<LeakedRow>,
    /// How many findings hold against it.
    pub held: u64,
    /// What holds whatever the findings are, and what was not looked at.
    pub always: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeakedRow {
    pub reads: String,
    pub because: FindingRow,
}

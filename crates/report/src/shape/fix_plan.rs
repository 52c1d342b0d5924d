//! `sealion audit --fix-plan`: what mends the findings, in the order in which it breaks nobody.

use serde::{Deserialize, Serialize};

use super::{AuditServerRow, FindingRow};

pub const FIX_PLAN_SCHEMA_ID: &str = "sealion/fix-plan/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FixPlanReport {
    /// Always [`FIX_PLAN_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub servers: Vec<AuditServerRow>,
    /// In the order in which they are to be done.
    pub steps: Vec<FixStepRow>,
    /// Failed findings that no step mends.
    pub by_hand: Vec<FindingRow>,
    /// How many findings are unknown: nothing is planned for them.
    pub unknown: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FixStepRow {
    /// From 1.
    pub number: u64,
    pub stage: String,
    /// `null`: a command for all nodes of the inventory.
    pub server: Option<String>,
    pub command: Option<String>,
    /// A command that does the same for nodes of an inventory.
    pub or_command: Option<String>,
    pub sql: Vec<String>,
    pub option_lines: Vec<String>,
    pub needs_restart: bool,
    pub to_fill: Vec<String>,
    pub decide: Vec<String>,
    pub waits_for: Vec<String>,
    pub mends: Vec<MendedRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MendedRow {
    pub rule: String,
    pub subject: String,
}

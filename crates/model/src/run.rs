//! Everything one command saw and did.

use serde::{Deserialize, Serialize};

use crate::{Finding, LinkSight, Observations};

/// One named part of a run with its own look.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub observations: Observations,
    pub findings: Vec<Finding>,
    pub sights: Vec<LinkSight>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub command: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub phases: Vec<Phase>,
}

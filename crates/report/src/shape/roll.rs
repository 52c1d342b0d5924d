use serde::{Deserialize, Serialize};

use super::StepOutcome;

/// The enable itself, under writers. All `*_ms` without `unix` count from its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roll {
    /// `enable galera,sst,clients`
    pub change: String,
    /// The hash of the state that the plan was made for.
    pub plan_hash: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub steps: Vec<StepRow>,
    /// Writers that ran all the time, one connection each.
    pub writers: u32,
    /// Width of one bucket.
    pub buckets_ms: u64,
    /// Acknowledgements in each bucket, the first one beginning with the roll.
    pub acknowledged_per_bucket: Vec<u32>,
    /// A gap is listed as a stall from this length on.
    pub stall_ms_min: u64,
    pub stalls: Vec<Stall>,
    /// From telling the writers to leave a node until its server was stopped.
    pub drains: Vec<Drain>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// `E2.n1`
    pub id: String,
    pub title: String,
    /// `null` for a step of the whole cluster.
    pub node: Option<String>,
    pub started_ms: u64,
    pub ended_ms: u64,
    pub outcome: StepOutcome,
    /// What its post-check saw, or why it failed.
    pub note: String,
    pub restarts_server: bool,
}

/// A gap between two acknowledgements of one writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    pub started_ms: u64,
    pub lasted_ms: u64,
    /// The node that the writer was connected to when it began.
    pub node: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drain {
    pub node: String,
    pub started_ms: u64,
    pub ended_ms: u64,
}

/// Another change of `--full`: the same step rows, counted from its own start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeRun {
    /// `disable galera,sst,clients`, `undo <plan>`
    pub change: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub steps: Vec<StepRow>,
    pub acknowledged_writes: u64,
    pub acknowledged_writes_lost: u64,
    pub failed_transactions: u64,
    pub longest_stall_ms: u64,
    pub restarts: u32,
    pub outcome: StepOutcome,
    pub note: String,
}

/// New leaf certificates on running servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rotation {
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub steps: Vec<StepRow>,
    /// Client connections that the rotation ended.
    pub connections_cut: u64,
    pub restarts: u32,
    pub serials: Vec<SerialRow>,
}

/// The serial that a node showed on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SerialRow {
    pub node: String,
    pub serial_before: String,
    pub serial_after: String,
    pub not_after_unix: Option<i64>,
}

//! The published shape of `sealion bench runs`: `docs/schema/bench-runs-1.json`.

use serde::{Deserialize, Serialize};

/// What [`RunsReport::schema`] says.
pub const BENCH_RUNS_SCHEMA_ID: &str = "sealion/bench-runs/1";

/// Measurements that are kept, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunsReport {
    /// Always [`BENCH_RUNS_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub runs: Vec<KeptRow>,
    /// Measurements of another version, which are not among them.
    pub unread: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRow {
    /// Its id.
    pub run: String,
    /// `run` or `load`
    pub kind: String,
    /// Of a load, its workload.
    pub experiment: String,
    pub workload: String,
    pub started_unix_ms: u64,
    pub targets: Vec<String>,
    pub server_version: String,
    pub is_usable: bool,
}

//! The published shape of `sealion bench advise`: `docs/schema/bench-advise-1.json`.

use serde::{Deserialize, Serialize};

use super::LoadTlsRow;

/// What [`AdviseReport::schema`] says.
pub const BENCH_ADVISE_SCHEMA_ID: &str = "sealion/bench-advise/1";

/// What measured CPU costs mean for a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdviseReport {
    /// Always [`BENCH_ADVISE_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub runs: Vec<AdvisedRun>,
    pub capacity: Vec<CapacityRow>,
    pub advice: Vec<AdviceRow>,
    /// What a reader could think was thought of, and was not.
    pub not_looked_at: Vec<String>,
}

/// One run that speaks here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdvisedRun {
    /// Its id, or the file that it was read from.
    pub run: String,
    pub experiment: String,
    pub started_unix_ms: u64,
    pub server_version: String,
    /// Of the generator's machine.
    pub processors: usize,
    pub cpu_model: String,
    pub is_usable: bool,
    pub why_not: Vec<String>,
}

/// What a machine carries with one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityRow {
    pub run: String,
    pub experiment: String,
    pub workload: String,
    /// `queries`, `connections` or `tables`
    pub counts: String,
    pub connections: u32,
    pub arm: String,
    /// `null` is cleartext.
    pub tls: Option<LoadTlsRow>,
    pub trials: usize,
    pub measured_per_s: f64,
    pub client_cpu_us: Option<f64>,
    pub server_cpu_us: Option<f64>,
    pub processors: usize,
    /// When clients are elsewhere; `null`: the server's CPU time is not known.
    pub server_alone_per_s: Option<f64>,
    /// When the clients share its machine, as they did when it was measured.
    pub together_per_s: Option<f64>,
    /// The limit by what was measured: so far it is beyond what was seen.
    pub beyond_measured: Option<f64>,
    pub text: String,
}

/// One thing that could be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdviceRow {
    /// `tls`, `pooling`, `resumption`, `key`, `suite`, `version`, `group`, `setting`
    pub topic: String,
    /// `saves`, `costs`, `no difference`, `too few trials` or `unknown`
    pub verdict: String,
    pub text: String,
    /// The measured numbers behind it, a sentence each; empty where it is unknown.
    pub proof: Vec<String>,
}

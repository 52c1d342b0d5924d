//! The published shape of `sealion bench run`: `docs/schema/bench-run-1.json`.

use serde::{Deserialize, Serialize};

/// What [`RunReport::schema`] says.
pub const BENCH_RUN_SCHEMA_ID: &str = "sealion/bench-run/1";

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Always [`BENCH_RUN_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub experiment: String,
    pub question: String,
    pub workload: String,
    /// `queries/s` or `events/s`
    pub unit: String,
    pub targets: Vec<String>,
    pub server_version: String,
    /// Whether the server's CPU time could be read: then it shares the machine with the generator.
    pub is_same_machine: bool,
    pub processors: usize,
    pub trial_s: f64,
    pub warm_up_s: f64,
    pub seed: u64,
    /// False: `why_not` says what is against it; the figures are there all the same.
    pub is_usable: bool,
    pub why_not: Vec<String>,
    /// Arms of the experiment that could not be measured here, each with why.
    pub left_out: Vec<String>,
    pub levels: Vec<LevelRow>,
    pub published: Option<PublishedTable>,
}

/// One number of connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelRow {
    pub connections: u32,
    /// Whole blocks: each arm once.
    pub blocks: usize,
    pub arms: Vec<ArmRow>,
    /// Every other arm with the first.
    pub comparisons: Vec<ComparisonRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmRow {
    pub name: String,
    /// `null` is clear text.
    pub tls: Option<super::LoadTlsRow>,
    pub mean: f64,
    /// `null` of one trial.
    pub deviation: Option<f64>,
    /// In the order in which they ran.
    pub trials: Vec<f64>,
    pub p95_ms: Option<f64>,
    /// Over the trials; `null` of one trial.
    pub p95_deviation_ms: Option<f64>,
    pub client_cpu_us_per_query: Option<f64>,
    pub server_cpu_us_per_query: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The first arm, and the other.
    pub of: String,
    pub with: String,
    /// The other by the first.
    pub ratio: f64,
    /// 95 %; `null`: too few blocks.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `true`, `false`, or `null` without an interval.
    pub differs: Option<bool>,
    pub text: String,
}

/// What others measured on other machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTable {
    pub source: String,
    pub rows: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    pub arm: String,
    pub connections: Option<u32>,
    pub per_s: f64,
    pub deviation: Option<f64>,
    pub p95_ms: Option<f64>,
    pub p95_deviation_ms: Option<f64>,
}

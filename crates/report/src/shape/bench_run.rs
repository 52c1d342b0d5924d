//! The published shape of `sealion bench run`: `docs/schema/bench-run-1.json`.

use serde::{Deserialize, Serialize};

use super::{CopyRow, CpuRow, LatencyRow, Machine, SettingRow};

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
    /// The generator's.
    pub machine: Machine,
    /// What was chosen, or left at its default, and changes what is measured.
    pub settings: Vec<SettingRow>,
    pub trial_s: f64,
    pub warm_up_s: f64,
    pub seed: u64,
    /// False: `why_not` says what is against it; the figures are there all the same.
    pub is_usable: bool,
    pub why_not: Vec<String>,
    /// Arms of the experiment that could not be measured here, each with why.
    pub left_out: Vec<String>,
    /// Of nodes that take cleartext and TLS alike: what was seen on the links between them.
    #[serde(default)]
    pub links: Vec<String>,
    /// What could not be judged: it may speak against the figures, and nobody knows.
    pub not_looked_at: Vec<String>,
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
    /// `null` is cleartext.
    pub tls: Option<super::LoadTlsRow>,
    pub mean: f64,
    /// `null` of one trial.
    pub deviation: Option<f64>,
    /// In them lies the mean, 95 %; `null`: too few trials.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// In the order in which they ran.
    pub trials: Vec<f64>,
    pub p95_ms: Option<f64>,
    /// Over the trials; `null` of one trial.
    pub p95_deviation_ms: Option<f64>,
    pub client_cpu_us_per_query: Option<f64>,
    pub client_user_cpu_us_per_query: Option<f64>,
    pub client_system_cpu_us_per_query: Option<f64>,
    pub server_cpu_us_per_query: Option<f64>,
    /// CPU seconds for 10^9 bytes that went over the wire, in both directions.
    #[serde(default)]
    pub client_cpu_s_per_gb: Option<f64>,
    #[serde(default)]
    pub server_cpu_s_per_gb: Option<f64>,
    /// Of all its trials, as one: a curve of event latencies.
    pub latency_percentiles: Vec<PercentileRow>,
    /// The same as it was counted, in ns: HdrHistogram V2, zlib, base64; `null` without a whole trial.
    pub latency_histogram: Option<String>,
    /// Of copies of a donor's data: means over the trials, and the longest that a row took in any; `null` of any other arm.
    #[serde(default)]
    pub copy: Option<CopyRow>,
    /// Each trial with all its figures, in the order of `trials`.
    pub samples: Vec<TrialRow>,
}

/// This share of events took at most so long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PercentileRow {
    pub share: f64,
    pub ms: f64,
}

/// One trial of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// From 1: each arm once.
    pub block: usize,
    pub started_unix_ms: u64,
    pub connecting_s: f64,
    pub measured_s: f64,
    pub events: u64,
    pub events_per_s: f64,
    pub queries: u64,
    pub queries_per_s: f64,
    pub reads: u64,
    pub writes: u64,
    pub others: u64,
    pub rows: u64,
    pub answer_bytes: u64,
    /// Below TLS, with its handshakes and records; without what TCP and IP add.
    #[serde(default)]
    pub sent_bytes: u64,
    #[serde(default)]
    pub received_bytes: u64,
    /// How often the client spoke, or dialled, and the server answered.
    #[serde(default)]
    pub round_trips: u64,
    pub latency_ms: LatencyRow,
    pub query_latency_ms: LatencyRow,
    pub client_cpu_us_per_query: Option<CpuRow>,
    pub server_cpu_us_per_query: Option<f64>,
    pub client_context_switches: u64,
    pub retries: u64,
    /// Of the connections that `connect` made, with a TLS session from before.
    pub resumed: u64,
    pub late_at_end: u64,
    /// That servers gave, and were not fatal.
    pub errors: u64,
    /// In their order, without the warm-up.
    #[serde(default)]
    pub seconds: Vec<super::SecondRow>,
    #[serde(default)]
    pub copy: Option<CopyRow>,
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
    /// What was published in words, or of what is no arm here.
    #[serde(default)]
    pub findings: Vec<String>,
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

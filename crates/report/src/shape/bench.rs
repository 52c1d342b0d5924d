//! The published shapes of `sealion bench`. A field here is a promise: its meaning and unit stand in
//! `docs/schema/bench-load-1.json`.

use serde::{Deserialize, Serialize};

/// What [`LoadReport::schema`] says.
pub const BENCH_LOAD_SCHEMA_ID: &str = "sealion/bench-load/1";

/// One measurement of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Always [`BENCH_LOAD_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    /// The generator's.
    pub machine: super::Machine,
    pub workload: String,
    /// What was chosen, or left at its default, and changes what is measured.
    pub settings: Vec<SettingRow>,
    /// `host:port` or a path, in the order in which connections go to them.
    pub targets: Vec<String>,
    pub server_version: String,
    /// `null` is cleartext.
    pub tls: Option<LoadTlsRow>,
    pub connections: usize,
    pub workers: usize,
    /// Events that were to begin in a second; `null`: as fast as they end.
    pub rate_per_s: Option<f64>,
    pub seed: u64,
    pub connecting_s: f64,
    pub warm_up_s: f64,
    /// Of a warm-up whose end was looked for: the throughput did not change any more.
    #[serde(default)]
    pub was_warm: Option<bool>,
    pub measured_s: f64,
    /// False: the figures are not those of the whole measurement, and `partial` says why.
    pub is_complete: bool,
    pub partial: Option<String>,
    pub events: u64,
    pub events_per_s: f64,
    pub queries: u64,
    pub queries_per_s: f64,
    pub reads: u64,
    pub writes: u64,
    pub others: u64,
    pub rows: u64,
    /// That statements inserted, changed or deleted, as the server counts them; what was rolled back later is among them.
    #[serde(default)]
    pub written_rows: u64,
    pub answer_bytes: u64,
    /// Below TLS, with its handshakes and records; without what TCP and IP add.
    #[serde(default)]
    pub sent_bytes: u64,
    #[serde(default)]
    pub received_bytes: u64,
    /// How often the client spoke, or dialled, and the server answered.
    #[serde(default)]
    pub round_trips: u64,
    /// Of all rows, whatever their order.
    pub rows_checksum: String,
    /// Of events: from when one was to begin to its last answer.
    pub latency_ms: LatencyRow,
    /// Of statements.
    pub query_latency_ms: LatencyRow,
    /// Of events, in ns: HdrHistogram V2, zlib, base64; `null` where nothing was done.
    pub latency_histogram: Option<String>,
    /// `null` where nothing was done.
    pub client_cpu_us_per_query: Option<CpuRow>,
    /// `null` where the server is not on this machine, or cannot be seen.
    pub server_cpu_us_per_query: Option<f64>,
    /// CPU seconds for 10^9 bytes that went over the wire, in both directions; `null` where none did.
    #[serde(default)]
    pub client_cpu_s_per_gb: Option<f64>,
    #[serde(default)]
    pub server_cpu_s_per_gb: Option<f64>,
    /// That all processors of the generator's machine took while it was measured, for whatever ran there; `null` where the kernel
    /// does not tell it, or not this account.
    #[serde(default)]
    pub machine_energy_j: Option<f64>,
    pub client_context_switches: u64,
    /// How often a connection went to the thread on whose processor its answers arrive.
    #[serde(default)]
    pub handed_over: u64,
    /// Statements that went out by one call with those of other connections.
    #[serde(default)]
    pub sent_together: u64,
    pub retries: u64,
    /// Of the connections that `connect` made, with a TLS session from before.
    pub resumed: u64,
    /// With a rate: events that waited for a connection when it ended.
    pub late_at_end: u64,
    /// With a rate: events that came while it was measured.
    #[serde(default)]
    pub due: Option<u64>,
    /// With a rate: as many events ended as came, but for those that are in hand at any moment.
    #[serde(default)]
    pub kept_up: Option<bool>,
    /// Begun, and without their last answer when it ended; and for how long the oldest of them was.
    #[serde(default)]
    pub under_way_at_end: u64,
    #[serde(default)]
    pub oldest_under_way_ms: f64,
    pub errors: Vec<LoadErrorRow>,
    pub lost_connections: u64,
    /// In their order, without the warm-up.
    #[serde(default)]
    pub seconds: Vec<SecondRow>,
    /// Of an event that copies a donor's data; `null` of any other.
    #[serde(default)]
    pub copy: Option<CopyRow>,
}

/// What a copy of a donor's data was, beside its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// Of all files that arrived.
    pub bytes: u64,
    pub bytes_per_s: f64,
    /// CPU time of all programs at both ends, for 10^9 of these bytes.
    pub cpu_s_per_gb: Option<f64>,
    /// False: it was made of files that nobody writes to. As a state transfer, this way would block the donor's writes for as long.
    pub is_of_running_donor: bool,
    /// Rows that a client wants to write into the donor while it is copied, one at a time.
    pub donor_rows_offered_per_s: f64,
    /// That it wrote while nothing was copied.
    pub donor_rows_alone_per_s: f64,
    /// That it wrote meanwhile; `null` where the donor that would be copied does not take any.
    pub donor_rows_per_s: Option<f64>,
    /// The longest that one of them took.
    pub donor_row_ms_max: Option<f64>,
}

/// A second of a measurement, or several of a long one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondRow {
    /// When it ended, since the measurement began.
    pub at_s: f64,
    pub queries_per_s: f64,
    /// Processors that the generator used: 1 is a whole one.
    pub client_cpu_s_per_s: f64,
    /// `null` where the server is not on this machine, or cannot be seen.
    pub server_cpu_s_per_s: Option<f64>,
    /// What passed in the network of a lab, client and nodes together; `null` elsewhere.
    pub network_bytes_per_s: Option<f64>,
}

/// One setting of a measurement, by its name on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingRow {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadTlsRow {
    pub version: String,
    pub cipher: String,
}

/// Every figure is `null` where nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuRow {
    pub user: f64,
    pub system: f64,
    pub total: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadErrorRow {
    pub code: u16,
    pub message: String,
    pub count: u64,
}

//! The published shape of `sealion bench compare`: `docs/schema/bench-compare-1.json`.

use serde::{Deserialize, Serialize};

/// What [`CompareReport::schema`] says.
pub const BENCH_COMPARE_SCHEMA_ID: &str = "sealion/bench-compare/1";

/// Two runs of the same experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// Always [`BENCH_COMPARE_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub experiment: String,
    /// `queries/s` or `events/s`
    pub unit: String,
    pub first: SideRow,
    pub second: SideRow,
    /// False: one of them is not usable on its own.
    pub is_usable: bool,
    /// What else than time lies between the two; empty: nothing that was kept.
    pub differs: Vec<DifferenceRow>,
    /// What a reader must know before the ratios are believed.
    pub warnings: Vec<String>,
    /// Each arm with itself.
    pub rows: Vec<CompareRow>,
    /// Each comparison within a run with the same one of the other: what touched a whole run is not in it.
    pub effects: Vec<EffectRow>,
    /// Arms and numbers of connections that only one of them has.
    pub only_in_one: Vec<String>,
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// Its id, or the file that it was read from.
    pub run: String,
    pub started_unix_ms: u64,
    pub sealion_version: String,
    pub server_version: String,
    pub is_usable: bool,
    pub why_not: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferenceRow {
    pub what: String,
    pub first: String,
    pub second: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    pub connections: u32,
    pub arm: String,
    pub first_mean: f64,
    pub second_mean: f64,
    pub first_trials: usize,
    pub second_trials: usize,
    /// The second by the first.
    pub ratio: f64,
    /// 95 %; `null`: too few trials.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `true`, `false`, or `null` without an interval.
    pub differs: Option<bool>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectRow {
    pub connections: u32,
    /// The two arms.
    pub of: String,
    pub with: String,
    /// `with` by `of`, in each of the runs.
    pub first_ratio: f64,
    pub second_ratio: f64,
    /// The second of these by the first.
    pub ratio: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub differs: Option<bool>,
    pub text: String,
}

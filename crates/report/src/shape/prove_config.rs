//! The published shape of `sealion prove config --format json`: `docs/schema/prove-config-1.json`.

use serde::{Deserialize, Serialize};

use super::{ProveCaseRow, SeverityWord};

/// What [`ProveConfigReport::schema`] says.
pub const PROVE_CONFIG_SCHEMA_ID: &str = "sealion/prove-config/1";

/// Connections in settings, and what is known of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveConfigReport {
    /// Always [`PROVE_CONFIG_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// Which matrix predicted.
    pub matrix: String,
    /// `--confirm` was asked for.
    pub is_confirmed: bool,
    pub broken_promises: u64,
    pub in_clear: u64,
    pub unknown: u64,
    /// Predictions that did not hold for the version that they were made for: faults of sealion.
    pub differing: u64,
    pub connections: Vec<ConfigConnectionRow>,
    pub unread: Vec<ConfigUnreadRow>,
    pub notes: Vec<ConfigNoteRow>,
}

impl ProveConfigReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigConnectionRow {
    pub file: String,
    pub line: u64,
    /// Its name in the file.
    pub what: String,
    /// How the file was read.
    pub form: String,
    pub host: Option<String>,
    /// Family of drivers; `null` where nothing tells.
    pub driver: Option<String>,
    /// Why it is not known.
    pub why: Option<String>,
    pub one_of: Vec<String>,
    /// The worst of `predictions`.
    pub severity: Option<SeverityWord>,
    pub is_unknown: bool,
    pub settings: Vec<ConfigSettingRow>,
    pub predictions: Vec<ConfigPredictionRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigSettingRow {
    pub key: String,
    /// `null` where it is not shown, or not in the file.
    pub value: Option<String>,
    pub file: String,
    pub line: u64,
    /// Why the file does not say it.
    pub unread: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigPredictionRow {
    pub client: String,
    pub name: String,
    /// The version that was measured.
    pub version: Option<String>,
    pub mode: Option<String>,
    pub promises: Option<String>,
    /// What else must be so.
    pub provided: Option<String>,
    /// Why nothing is predicted.
    pub why: Option<String>,
    pub broken_by: Option<String>,
    pub severity: Option<SeverityWord>,
    /// What it means, for people.
    pub means: Option<String>,
    pub cases: Vec<ProveCaseRow>,
    pub fix: Option<ConfigFixRow>,
    pub confirmed: Option<ConfigConfirmedRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigFixRow {
    /// Lines as they are written in this file.
    pub set: Vec<String>,
    /// `file:line key` of each that goes.
    pub remove: Vec<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigConfirmedRow {
    /// Of the driver that was run; `null` when none was.
    pub version: Option<String>,
    /// Why it was not run.
    pub why: Option<String>,
    pub next: Option<String>,
    /// What was run: `reading`, the driver with the settings as they were read, and not the code of the file; `null` when nothing
    /// was.
    #[serde(default)]
    pub ran: Option<String>,
    /// The honest server was accepted.
    pub is_controlled: bool,
    /// Outcomes are those that were predicted; `null` where nothing was predicted or run.
    pub agrees: Option<bool>,
    /// Cases with another outcome.
    pub differs: Vec<String>,
    pub cases: Vec<ProveCaseRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigUnreadRow {
    pub file: String,
    pub line: Option<u64>,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigNoteRow {
    pub file: String,
    pub text: String,
}

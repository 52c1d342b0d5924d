//! The published shapes of `sealion keys list` and `sealion keys drill` with `--format json`: `docs/schema/keys-list-1.json` and
//! `docs/schema/keys-drill-1.json`.

use serde::{Deserialize, Serialize};

/// What [`KeysListReport::schema`] says.
pub const KEYS_LIST_SCHEMA_ID: &str = "sealion/keys-list/1";
/// What [`KeysDrillReport::schema`] says.
pub const KEYS_DRILL_SCHEMA_ID: &str = "sealion/keys-drill/1";

/// The copies in an escrow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysListReport {
    /// Always [`KEYS_LIST_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub escrow_dir: String,
    pub copies: Vec<KeysCopyRow>,
}

/// One of them; what is in it is `null` where it does not open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysCopyRow {
    pub name: String,
    pub path: String,
    /// Of the sealed file; `null`: it could not be read.
    pub sha256: Option<String>,
    pub opens: bool,
    /// Why it does not.
    pub why: Option<String>,
    pub cluster: Option<String>,
    pub plan_id: Option<String>,
    pub made_unix_ms: Option<u64>,
    /// Never a key.
    pub key_ids: Vec<u32>,
}

/// What the keys of a copy open, on a copy of a node's data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeysDrillReport {
    /// Always [`KEYS_DRILL_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub node: String,
    pub copy: String,
    /// `backup`, `files`.
    pub source: String,
    /// `proven`, `failed`, `unknown`.
    pub verdict: String,
    pub files_opened: u64,
    pub files_tried: u64,
    pub tables_with_rows: Vec<String>,
    pub tables_empty: Vec<String>,
    /// One sentence each, with the server's words.
    pub failed: Vec<String>,
    /// The same of what is no matter of keys.
    pub not_read: Vec<String>,
    pub unnamed: Vec<String>,
    pub removed_dirs: Vec<String>,
}

impl KeysListReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

impl KeysDrillReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

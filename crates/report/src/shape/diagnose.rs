//! The published shape of `sealion diagnose --format json`: `docs/schema/diagnose-1.json`.

use serde::{Deserialize, Serialize};

/// What [`DiagnoseReport::schema`] says.
pub const DIAGNOSE_SCHEMA_ID: &str = "sealion/diagnose/1";

/// What is wrong with the keys of one data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseReport {
    /// Always [`DIAGNOSE_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// `null` where only files were named.
    pub node: Option<String>,
    pub datadir: String,
    /// `mariadb`, `mysql`; `null` where the files tell neither.
    pub family: Option<String>,
    /// `no_key_problem`, `key_problem`, `unknown`.
    pub verdict: String,
    pub problems: Vec<DiagnoseProblemRow>,
    pub keys: Vec<DiagnoseKeyRow>,
    /// Key file and pass file.
    pub files: Vec<DiagnoseFileRow>,
    pub copies: Vec<DiagnoseCopyRow>,
    pub log: Vec<DiagnoseLogRow>,
    /// What would destroy data as it is now, one sentence each.
    pub forbidden: Vec<String>,
    /// One sentence each.
    pub notes: Vec<String>,
    /// One sentence each; what could not be told, and why.
    pub unknown: Vec<String>,
}

impl DiagnoseReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseProblemRow {
    pub kind: String,
    pub what: String,
    pub why: String,
    /// What is lost, and what is not.
    pub lost: String,
    pub next: String,
}

/// A key that files need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseKeyRow {
    /// The id of MariaDB, the name of MySQL's keyring.
    pub name: String,
    /// Versions that pages and redo log name; empty in MySQL.
    pub versions: Vec<u32>,
    /// `opens`, `wrong`, `does_not_open`, `absent`, `not_tried`.
    pub result: String,
    pub files: u64,
    /// Some of them.
    pub examples: Vec<String>,
    /// Why it was not tried.
    pub why: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseFileRow {
    /// `key_file`, `pass_file`.
    pub role: String,
    pub path: String,
    /// `there`, `absent`, `unknown`.
    pub state: String,
    pub why: Option<String>,
    /// What it has, by name; never a key.
    pub key_names: Vec<String>,
}

/// A sealed copy in the escrow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseCopyRow {
    pub name: String,
    pub opens: bool,
    /// Why it does not.
    pub why: Option<String>,
    pub key_ids: Vec<u32>,
    /// `null`: there is no such file on the node, or it could not be read.
    pub is_same_key_file: Option<bool>,
    pub is_same_pass_file: Option<bool>,
    /// Files that its keys open, of those on which a key can be tried.
    pub files_opened: u64,
    pub files_tried: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseLogRow {
    pub kind: String,
    pub line: String,
}

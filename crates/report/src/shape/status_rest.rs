//! The published shape of `sealion status rest --format json`: `docs/schema/status-rest-1.json`.

use serde::{Deserialize, Serialize};

use super::{RestPlaceWord, RestUnitWord, RestVerdictWord};

/// What [`StatusRestReport::schema`] says.
pub const STATUS_REST_SCHEMA_ID: &str = "sealion/status-rest/1";

/// What the files of one data directory hold, beside what its server says of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRestReport {
    /// Always [`STATUS_REST_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub datadir: String,
    /// `mariadb`, `mysql`; `null` where the files tell neither.
    pub family: Option<String>,
    pub read_bytes: u64,
    /// Holes in sparse files, whose zeros need no reading.
    pub hole_bytes: u64,
    pub server: RestServerRow,
    pub counts: RestCountsRow,
    pub artefacts: Vec<RestArtefactRow>,
    pub disagreements: Vec<RestDisagreementRow>,
    /// What is about the server and no file of it: tmpdir, swap, core dumps, keys.
    pub places: Vec<RestPlaceRow>,
    /// One sentence each; what a reader could think was covered and was not.
    pub not_looked_at: Vec<String>,
}

impl StatusRestReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// The same of one node of the demo, in sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtRest {
    pub node: String,
    pub files: u64,
    pub read_bytes: u64,
    pub rows: Vec<AtRestRow>,
}

/// Files of one kind with one verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtRestRow {
    pub kind: String,
    /// What somebody reads there where it is plain.
    pub holds: String,
    pub verdict: RestVerdictWord,
    pub files: u64,
    pub bytes: u64,
}

/// Whether a server was asked, and whether its answers are of this directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestServerRow {
    pub is_asked: bool,
    /// Its answers stand beside the files.
    pub counts: bool,
    pub version: Option<String>,
    /// Why they do not.
    pub why: Option<String>,
}

/// Files by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestCountsRow {
    pub plain: u64,
    pub encrypted: u64,
    pub mixed: u64,
    pub empty: u64,
    pub never: u64,
    pub unknown: u64,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestArtefactRow {
    /// Below the data directory, or absolute.
    pub path: String,
    /// What names it, if it is not in the data directory: a variable, a view, an open file of the process.
    pub named_by: Option<String>,
    /// `table`, `redo log`, …
    pub kind: String,
    /// What somebody reads there where it is plain.
    pub holds: String,
    pub bytes: u64,
    pub verdict: RestVerdictWord,
    /// It could not be read, in whole or in part.
    pub is_unread: bool,
    pub unit: RestUnitWord,
    pub unit_bytes: Option<u64>,
    pub plain: u64,
    pub encrypted: u64,
    pub never: u64,
    pub zero: u64,
    pub unknown: u64,
    pub keys: Vec<RestKeyRow>,
    pub space_id: Option<u32>,
    /// What the header of the file says.
    pub claim: Option<String>,
    /// Why units are unknown, and what of encrypted ones no server encrypts.
    pub why: Vec<String>,
    /// `null` where nobody was asked, or the server says nothing of such a file.
    pub sql: Option<RestSqlRow>,
    /// Of a file that no server encrypts: `encrypted`, `plain`, `mixed`, `memory` or `unknown`, as what lies below it.
    #[serde(default)]
    pub lies_on: Option<String>,
    /// Why that is unknown.
    #[serde(default)]
    pub lies_on_why: Option<String>,
    pub cure: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestKeyRow {
    pub id: Option<u32>,
    pub version: Option<u32>,
    pub units: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestSqlRow {
    /// `plain`, `encrypted` or `unknown`.
    pub says: RestVerdictWord,
    /// The variable or the table that says it.
    pub by: String,
}

/// What is about a server and no file of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestPlaceRow {
    /// `tmpdir`, `swap`, `core dumps`, …
    pub what: String,
    pub path: Option<String>,
    pub verdict: RestPlaceWord,
    /// For people.
    pub text: String,
    pub cure: Option<String>,
}

/// SQL says one thing of a file and its bytes another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestDisagreementRow {
    pub path: String,
    pub kind: String,
    /// For people.
    pub text: String,
    pub cure: String,
}

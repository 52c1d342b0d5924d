//! The published shape of `sealion prove disk --format json`: `docs/schema/prove-disk-1.json`.

use serde::{Deserialize, Serialize};

use super::words::words;

/// What [`ProveDiskReport::schema`] says.
pub const PROVE_DISK_SCHEMA_ID: &str = "sealion/prove-disk/1";

words! {
    /// What was proven of one artefact. `not-proven` is never `not-readable`.
    DiskProofWord {
        /// A canary was found in its files.
        Readable = "readable",
        /// It must have been written there, what was written is encrypted, and it was not found.
        NotReadable = "not-readable",
        NotProven = "not-proven",
        /// This server has, or does, nothing of the kind.
        NotThere = "not-there",
    }
}

/// Where canaries that were given to a running server can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveDiskReport {
    /// Always [`PROVE_DISK_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// As the server calls itself.
    pub server_version: String,
    /// `mariadb`, `mysql`
    pub family: String,
    pub datadir: String,
    /// False on a replica, where canaries are only asked for.
    pub is_written: bool,
    /// False when it was ended before everything was tried.
    pub is_complete: bool,
    pub artefacts: Vec<DiskProofRow>,
    /// What may have stayed behind, a sentence each.
    pub left_behind: Vec<String>,
    /// What this proof does not cover, a sentence each.
    pub notes: Vec<String>,
}

impl ProveDiskReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// One artefact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskProofRow {
    pub id: String,
    /// For people.
    pub name: String,
    pub verdict: DiskProofWord,
    /// How that is known, or why not.
    pub why: String,
    pub files: Vec<DiskProofFile>,
    pub cure: Option<String>,
}

/// A file in which canaries can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskProofFile {
    pub path: String,
    pub times: u64,
}

//! The published shape of `sealion status disk --format json`: `docs/schema/status-disk-1.json`.

use serde::{Deserialize, Serialize};

use super::SeverityWord;
use super::words::words;

/// What [`StatusDiskReport::schema`] says.
pub const STATUS_DISK_SCHEMA_ID: &str = "sealion/status-disk/1";

words! {
    /// What is written at the top of a stack is encrypted before it is on a disk, or is not. `unknown` is never `encrypted`.
    DiskCoverageWord { Encrypted = "encrypted", Plain = "plain", Mixed = "mixed", Memory = "memory", Unknown = "unknown" }
}
words! { DiskPathWord { Device = "block-device", File = "file", Directory = "directory" } }
words! {
    /// Whether a LUKS header stands at the beginning.
    DiskHeaderWord {
        Found = "found",
        Absent = "absent",
        Unknown = "unknown",
        /// Of a directory.
        NotLookedFor = "not-looked-for",
    }
}

/// Block stacks and LUKS headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusDiskReport {
    /// Always [`STATUS_DISK_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub paths: Vec<DiskPathRow>,
    pub swaps: Vec<DiskSwapRow>,
    /// One sentence each; what a reader could think was covered and was not.
    pub not_looked_at: Vec<String>,
}

impl StatusDiskReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// One path that was named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskPathRow {
    pub path: String,
    pub kind: DiskPathWord,
    pub coverage: DiskCoverageWord,
    pub coverage_why: Option<String>,
    /// From the top down; `depth` says below which one.
    pub layers: Vec<DiskLayerRow>,
    pub header_is: DiskHeaderWord,
    pub header_why: Option<String>,
    pub header: Option<LuksHeaderRow>,
    pub weaknesses: Vec<LuksWeaknessRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskLayerRow {
    pub depth: u64,
    pub kind: String,
    pub name: String,
    pub about: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSwapRow {
    pub name: String,
    pub coverage: DiskCoverageWord,
    pub coverage_why: Option<String>,
}

/// What a header says. It is a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuksHeaderRow {
    pub version: u8,
    pub uuid: String,
    pub label: String,
    /// What it says of its data: `encrypted`, `plain` or `unknown`.
    pub claims: DiskCoverageWord,
    pub claims_why: Option<String>,
    pub ciphers: Vec<String>,
    pub key_bits: u32,
    pub hash: Option<String>,
    pub is_detached: bool,
    pub reencryption: Option<String>,
    pub half_written: Option<String>,
    pub requirements: Vec<String>,
    pub segments: Vec<LuksSegmentRow>,
    pub slots: Vec<LuksSlotRow>,
    pub tokens: Vec<LuksTokenRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuksSegmentRow {
    pub id: u8,
    pub kind: String,
    pub offset_bytes: u64,
    pub bytes: Option<u64>,
    pub cipher: Option<String>,
    pub sector_bytes: u32,
    pub integrity: Option<String>,
    pub flags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuksSlotRow {
    pub id: u8,
    /// `active`, `inactive` or `unknown`.
    pub state: String,
    /// A key that fits it opens the volume.
    pub opens: bool,
    /// `key`, `reencryption`, or the header's own word.
    pub kind: String,
    pub priority: String,
    /// `pbkdf2`, `argon2id`, …
    pub kdf: Option<String>,
    pub kdf_hash: Option<String>,
    pub iterations: Option<u32>,
    pub memory_kib: Option<u32>,
    pub lanes: Option<u32>,
    pub stripes: u32,
    pub tokens: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuksTokenRow {
    pub id: u8,
    pub kind: String,
    pub slots: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LuksWeaknessRow {
    /// A stable word.
    pub name: String,
    pub severity: SeverityWord,
    pub text: String,
    pub remedy: String,
}

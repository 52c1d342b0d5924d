//! `sealion send` and `sealion receive`: one copy of a directory.

use serde::{Deserialize, Serialize};

pub const STREAM_SCHEMA_ID: &str = "sealion/stream/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Always [`STREAM_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// `sender` or `receiver`: who wrote this.
    pub role: String,
    /// Or the archive, the command, `-` for standard input and output.
    pub directory: String,
    pub files: u64,
    pub directories: u64,
    pub links: u64,
    /// Of all files together, holes too.
    pub size_bytes: u64,
    /// What travelled; holes did not.
    pub data_bytes: u64,
    /// What the receiver had already, of a copy that was resumed; 0 at the sender.
    pub kept_bytes: u64,
    pub connections: u16,
    pub tls_version: String,
    pub cipher_suite: String,
    /// Sockets, pipes and devices in the directory, which were not sent.
    pub left_out: Vec<String>,
}

//! What `sealion watch-clients` found: who uses the servers, and how.

use serde::{Deserialize, Serialize};

pub const WATCH_CLIENTS_SCHEMA_ID: &str = "sealion/watch-clients/1";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchClientsReport {
    pub schema: String,
    pub sealion_version: String,
    pub cluster: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// Captures, one after the other.
    pub looks: u32,
    /// In cleartext first, then by account.
    pub clients: Vec<WatchClientRow>,
    /// What could not be seen in at least one of them, each once.
    pub not_seen: Vec<String>,
}

/// Connections of one user from one host by one driver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchClientRow {
    /// `None`: it was gone before the server listed its sessions.
    pub user: Option<String>,
    pub host: String,
    /// What the client calls itself.
    pub driver: Option<String>,
    pub nodes: Vec<String>,
    /// Looks in which such a connection talked in cleartext, over TLS, and in which neither was seen.
    pub cleartext: u32,
    pub tls: u32,
    pub unknown: u32,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

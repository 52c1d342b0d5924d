use serde::{Deserialize, Serialize};

use super::{SeenWord, StatusOf};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterStatus {
    pub name: String,
    /// `gcomm://127.77.1.1,127.77.1.2,127.77.1.3`
    pub address: String,
    pub galera_port: u16,
    /// Addresses of garbd members.
    pub arbitrators: Vec<String>,
    /// `debian`, `redhat`: where option files and units lie.
    pub os_class: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    pub node: String,
    pub address: String,
    pub version: String,
    pub rows: Vec<StatusRow>,
}

/// One noun on one node, in three columns that may disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusRow {
    pub what: StatusOf,
    pub key_path: Option<String>,
    pub cert_path: Option<String>,
    /// When the certificate expires.
    pub not_after_unix: Option<i64>,
    /// What the option files say for the next start.
    pub configured: String,
    /// What the running server says.
    pub effective: String,
    /// What the wire showed.
    pub seen: SeenWord,
    /// `3 of 3 links`, or why it is unknown.
    pub seen_note: String,
}

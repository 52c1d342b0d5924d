//! The published shape of `sealion prove relay --format json`: `docs/schema/prove-relay-1.json`.

use serde::{Deserialize, Serialize};

use super::sniff::{SniffCanary, SniffFinding, SniffMySql};

/// What [`ProveRelayReport::schema`] says.
pub const PROVE_RELAY_SCHEMA_ID: &str = "sealion/prove-relay/1";

/// What passed between clients and a real server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProveRelayReport {
    /// Always [`PROVE_RELAY_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub listen: String,
    pub target: String,
    pub strip: bool,
    pub substitute_key: bool,
    pub change_result: bool,
    pub is_readable: bool,
    /// Connections that went along with an attack.
    pub fallen: u64,
    /// All of them; `connections` has the first ten thousand.
    pub connection_count: u64,
    pub connections: Vec<RelayConnection>,
}

impl ProveRelayReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayConnection {
    pub number: u64,
    pub client: String,
    pub is_tls: bool,
    pub client_bytes: u64,
    pub server_bytes: u64,
    /// `not-tried`, `nothing-to-strip`, `refused`, `asked-anyway` or `went-on-in-clear`.
    pub strip: String,
    /// `not-tried`, `refused`, `knows-the-key`, `password-taken` or `password-in-clear`.
    pub key: String,
    /// It is the password that was given; `null` where none was obtained, or none was given.
    pub password_matches: Option<bool>,
    pub values_changed: u64,
    pub has_fallen: bool,
    pub logged_in: bool,
    pub login_error: Option<u16>,
    /// Why the server was not reached.
    pub unreachable: Option<String>,
    /// In order; the first two hundred.
    pub events: Vec<RelayEvent>,
    pub canaries: Vec<SniffCanary>,
    /// Worst first.
    pub findings: Vec<SniffFinding>,
    /// `null` where it is not MySQL's protocol.
    pub mysql: Option<SniffMySql>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayEvent {
    pub id: String,
    pub text: String,
}

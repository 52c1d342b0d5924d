//! The published shapes of `sealion prove client` and `sealion prove clients` with `--format json`:
//! `docs/schema/prove-client-1.json` and `docs/schema/prove-clients-1.json`.

use serde::{Deserialize, Serialize};

/// What [`ProveClientReport::schema`] says.
pub const PROVE_CLIENT_SCHEMA_ID: &str = "sealion/prove-client/1";
/// What [`ProveClientsReport::schema`] says.
pub const PROVE_CLIENTS_SCHEMA_ID: &str = "sealion/prove-clients/1";

/// One client under attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveClientReport {
    /// Always [`PROVE_CLIENT_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// False when it was ended before every attack was tried.
    pub is_complete: bool,
    /// The honest server was accepted: else what is refused elsewhere proves nothing.
    pub is_controlled: bool,
    /// How many of `cases` it has fallen to.
    pub fallen: u64,
    pub cases: Vec<ProveCaseRow>,
}

impl ProveClientReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// One attack on one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveCaseRow {
    /// Of `sealion prove list`.
    pub case: String,
    pub family: String,
    /// The letters of the matrix.
    pub verdict: String,
    /// The same as a sentence.
    pub text: String,
    pub has_fallen: bool,
    /// The password can be guessed offline from what was sent.
    pub is_guessable: bool,
    pub connections: u64,
    /// What the client says of itself.
    pub client: Option<String>,
    /// How the program ended.
    pub exit: String,
    pub defence: String,
    /// What came and went on the connection that counts, packet by packet: kinds, lengths and flags, never what is in them.
    #[serde(default)]
    pub trace: Vec<String>,
}

/// Drivers and tools, in every way that their TLS can be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveClientsReport {
    /// Always [`PROVE_CLIENTS_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// Ways of setting TLS that do not keep what they promise.
    pub broken_promises: u64,
    pub clients: Vec<ProveDriverRow>,
}

impl ProveClientsReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// One driver or tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveDriverRow {
    pub client: String,
    pub name: String,
    /// `null` when it was not tried.
    pub version: Option<String>,
    /// Why it was not tried.
    pub why: Option<String>,
    /// What to do then.
    pub next: Option<String>,
    /// None when it was not tried.
    pub modes: Vec<ProveModeRow>,
}

/// One way of setting its TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveModeRow {
    pub mode: String,
    /// As a person writes them for this driver.
    pub options: String,
    /// `nothing`, `encryption`, `the CA` or `the host`.
    pub promises: String,
    pub is_controlled: bool,
    /// The first case that shows that the promise is not kept.
    pub broken_by: Option<String>,
    pub cases: Vec<ProveCaseRow>,
    /// Attacks on the login and behind it, of the ways that they were tried on: the default, and the strictest.
    #[serde(default)]
    pub logins: Vec<ProveCaseRow>,
}

//! The published shapes of `sealion share list` and `sealion share audit` with `--format json`: `docs/schema/share-list-1.json` and
//! `docs/schema/share-audit-1.json`.

use serde::{Deserialize, Serialize};

/// What [`ShareListReport::schema`] says.
pub const SHARE_LIST_SCHEMA_ID: &str = "sealion/share-list/1";
/// What [`ShareAuditReport::schema`] says.
pub const SHARE_AUDIT_SCHEMA_ID: &str = "sealion/share-audit/1";

/// What an owner has granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareListReport {
    /// Always [`SHARE_LIST_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// Oldest first.
    pub grants: Vec<ShareGrantRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareGrantRow {
    pub id: String,
    pub table: String,
    /// Fingerprint.
    pub reader: String,
    pub until_unix_s: i64,
    /// At each proxy.
    pub max_opens: u32,
    /// Proxies that have to give their shares.
    pub need: u8,
    /// By this owner's notes.
    pub revoked_unix_s: Option<i64>,
    pub proxies: Vec<ShareProxyRow>,
}

/// What one proxy says of a grant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareProxyRow {
    pub url: String,
    /// `held`, `revoked`, `refused`, `unreachable`, `untrusted`.
    pub state: String,
    pub opens: Option<u32>,
    /// Why it does not say, or why what it says cannot be.
    pub why: Option<String>,
}

/// The logs of proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareAuditReport {
    /// Always [`SHARE_AUDIT_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub proxies: Vec<ShareLogRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareLogRow {
    pub url: String,
    /// `whole`, `changed`, `unknown`.
    pub verdict: String,
    /// `null`: it could not be read.
    pub lines: Option<i64>,
    /// Since the last look.
    pub new_lines: Option<i64>,
    /// What speaks against it, or why it could not be read.
    pub why: Vec<String>,
    /// Grants that it holds though they were revoked, a sentence each.
    #[serde(default)]
    pub holds: Vec<String>,
    /// As far as each follows from the one before.
    pub entries: Vec<ShareLogLineRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareLogLineRow {
    pub number: i64,
    pub unix_s: i64,
    /// `grant`, `open`, `revoke`, `state`.
    pub wish: String,
    pub grant: String,
    /// `done`, or the text of a refusal.
    pub answer: String,
}

impl ShareListReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

impl ShareAuditReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

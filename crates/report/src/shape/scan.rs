//! The published shape of `sealion scan --format json`: `docs/schema/scan-1.json`.

use serde::{Deserialize, Serialize};

use super::FindingRow;

/// What [`ScanReport::schema`] says.
pub const SCAN_SCHEMA_ID: &str = "sealion.scan/1";

/// Everything that one `sealion scan` saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScanReport {
    /// Always [`SCAN_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// `first`, `classes` or `full`.
    pub depth: String,
    /// Of the criteria for `grade`.
    pub grading_version: u32,
    /// False when it was ended before every target had its row.
    pub is_complete: bool,
    /// One for every target, the dead ones too.
    pub targets: Vec<TargetRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetRow {
    /// As it was named, with its port.
    pub target: String,
    pub host: String,
    /// `null` when the name has none.
    pub address: Option<String>,
    pub port: u16,
    /// `MySQL`, `Galera`, …: what this port is usually for.
    pub port_use: String,
    /// What answered, in words; `null` when nobody did.
    pub service: Option<ServiceRow>,
    /// `null` where no TLS was seen.
    pub tls: Option<TlsRow>,
    /// `A` to `F`; `null` where something that could lower it was not seen, or nothing was.
    pub grade: Option<String>,
    /// Why there is no grade.
    pub grade_why: String,
    pub findings: Vec<FindingRow>,
    /// Why there is less than was asked for, one sentence each.
    pub not_seen: Vec<String>,
    pub connections: u32,
    pub handshakes: u32,
    pub elapsed_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceRow {
    /// `mysql`, `x_protocol`, `galera_plain`, `galera_dynamic`, `tls`, `turned_away`, `silent`, `stranger`.
    pub protocol: String,
    /// As the server words it.
    pub version: Option<String>,
    pub flavour: Option<String>,
    pub auth_plugin: Option<String>,
    /// Protocol capability flags; `null` where there is no greeting.
    pub capabilities: Option<u32>,
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TlsRow {
    pub versions: Vec<VersionRow>,
    pub groups: Vec<GroupRow>,
    /// Whether the lists of groups are whole.
    pub groups_complete: bool,
    /// Bits of the smallest finite-field Diffie-Hellman group that was seen.
    pub dh_bits: Option<u64>,
    pub dh_prime: Option<String>,
    /// Seconds that a session ticket is said to live, up to TLS 1.2; `null` where none was given.
    #[serde(default)]
    pub ticket_lifetime_s: Option<u64>,
    /// The same in TLS 1.3.
    #[serde(default)]
    pub psk_lifetime_s: Option<u64>,
    /// `server` or `client`: whose order of suites counts; `null` when not asked or not seen.
    pub order: Option<String>,
    /// IANA's names.
    pub signature_schemes: Vec<String>,
    /// One for each certificate that the server has, leaf first.
    pub chains: Vec<Vec<CertificateRow>>,
    /// Whether each chain leads to a CA that clients may trust.
    pub trust: Vec<TrustRow>,
    /// Whose name checks each leaf would pass for this host.
    pub names: Vec<NameRow>,
    /// `yes`, `no`, `unknown: why`, or `null` when not asked, by the name of the feature.
    pub features: std::collections::BTreeMap<String, Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionRow {
    /// As `tls_version` spells it.
    pub version: String,
    /// `yes`, `no`, or `unknown: why`.
    pub taken: String,
    pub suites: Vec<SuiteRow>,
    /// Whether `suites` is all that is taken.
    pub suites_complete: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteRow {
    /// Four hexadecimal digits.
    pub code: String,
    pub iana: String,
    pub openssl: Option<String>,
    pub strength_bits: u32,
    pub forward_secrecy: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    pub code: String,
    pub name: String,
    /// `TLSv1.3`, or `TLSv1.2` for it and everything older.
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrustRow {
    /// Place of the chain in `chains`, from 0.
    pub chain: usize,
    /// `--ssl-ca` or `system store`.
    pub against: String,
    pub trusted: bool,
    /// Why not; empty when it is.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NameRow {
    /// Place of the chain in `chains`, from 0.
    pub chain: usize,
    pub clients: String,
    pub takes: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertificateRow {
    pub subject: String,
    pub issuer: String,
    pub serial: String,
    pub not_before_unix: i64,
    pub not_after_unix: i64,
    pub dns: Vec<String>,
    pub ips: Vec<String>,
    pub key: String,
    pub key_bits: u32,
    pub signature: String,
    pub sha256: String,
    pub is_ca: bool,
    pub self_signed: bool,
}

//! The published shape of `sealion scan --format json`: `docs/schema/scan-1.json`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{FindingRow, SeverityWord, VerdictWord};

/// What [`ScanReport::schema`] says.
pub const SCAN_SCHEMA_ID: &str = "sealion/scan/1";

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
    /// What was asked for: enough to complete a scan that was ended.
    #[serde(default)]
    pub asked: AskedRow,
    /// One for every target, the dead ones too.
    pub targets: Vec<TargetRow>,
    /// Keys that more than one host has.
    #[serde(default)]
    pub reused_keys: Vec<ReusedKeyRow>,
    /// The certificates that end first, over all targets.
    #[serde(default)]
    pub rotates_next: Vec<RotationRow>,
    /// What is not as it was in an earlier result; `null` when it was compared with none.
    #[serde(default)]
    pub changes: Option<ChangesRow>,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedRow {
    /// As they were named: `db1`, `db1:3306`, `10.0.0.0/24`, `srv:_mysql._tcp.example.org`.
    pub targets: Vec<String>,
    /// The file of CAs that chains were checked against.
    pub ssl_ca: Option<String>,
    /// `v1` or `v2`: the header that was sent before everything.
    pub proxy_protocol: Option<String>,
    /// The file of ranges that may be scanned.
    pub authorized_range: Option<String>,
    /// Of `heartbleed`, `early_ccs` and `robot`, what was asked though it may harm an old server.
    #[serde(default)]
    pub intrusive: Vec<String>,
}

/// One key on several hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedKeyRow {
    /// SHA-256 of the SubjectPublicKeyInfo, hexadecimal.
    pub key_sha256: String,
    /// `RSA 2048`, `EC P-256`
    pub key: String,
    /// Whether it is one certificate too.
    pub same_certificate: bool,
    /// Addresses, with the name where there is one.
    pub hosts: Vec<String>,
    pub targets: Vec<String>,
}

/// One certificate and where it is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRow {
    pub not_after_unix: i64,
    pub subject: String,
    pub sha256: String,
    pub targets: Vec<String>,
}

/// The differences to an earlier result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesRow {
    /// The file of the earlier result.
    pub baseline: String,
    pub baseline_ended_unix_ms: u64,
    pub new_targets: Vec<String>,
    pub gone_targets: Vec<String>,
    /// Targets of both with a difference, and new ones with findings.
    pub targets: Vec<TargetChangesRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetChangesRow {
    pub target: String,
    pub address: Option<String>,
    /// What failed or could not be judged now, and did not then.
    pub appeared: Vec<ChangedFindingRow>,
    /// What failed or could not be judged then, and passes or does not apply now.
    pub went: Vec<ChangedFindingRow>,
    /// Everything else, each with both sides.
    pub changed: Vec<ChangeRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFindingRow {
    pub rule: String,
    pub title: String,
    pub severity: SeverityWord,
    /// `fail` or `unknown`: now of what appeared, then of what went.
    pub verdict: VerdictWord,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRow {
    /// `grade`, `version`, `suites of TLSv1.2`, …
    pub what: String,
    /// Empty where there was nothing.
    pub before: String,
    pub after: String,
}

/// A risk that somebody has accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedRow {
    pub rule: String,
    pub reason: String,
    /// The last day on which it counts: `2027-03-01`.
    pub until: String,
    pub until_unix: u64,
    /// It does not count any more.
    pub is_expired: bool,
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
    /// Of these findings, those that somebody has accepted, in `sealion.toml`.
    #[serde(default)]
    pub accepted: Vec<AcceptedRow>,
    /// Why there is less than was asked for, one sentence each.
    pub not_seen: Vec<String>,
    pub connections: u32,
    pub handshakes: u32,
    pub elapsed_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceRow {
    /// `mysql`, `x_protocol`, `galera_plain`, `galera_dynamic`, `group_replication_plain`, `tls`, `turned_away`, `silent`, `stranger`.
    pub protocol: String,
    /// As the server words it.
    pub version: Option<String>,
    pub flavour: Option<String>,
    pub auth_plugin: Option<String>,
    /// Protocol capability flags; `null` where there is no greeting.
    pub capabilities: Option<u32>,
    /// The RSA key that the password plugins offer in cleartext; `null` where it was not asked (`--intrusive=login`) or not
    /// offered.
    #[serde(default)]
    pub public_key: Option<PublicKeyRow>,
    pub note: String,
}

/// A key that clients fetch before they send a password under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublicKeyRow {
    pub bits: u32,
    /// Of the SubjectPublicKeyInfo, as hex.
    pub sha256: String,
    pub plugin: String,
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
    /// The place in `chains` of the one that came without a server name; `null` where it is the first, or was not asked for.
    #[serde(default)]
    pub chain_without_name: Option<usize>,
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
    /// SHA-256 of the SubjectPublicKeyInfo, hexadecimal: the same for every certificate of one key.
    #[serde(default)]
    pub key_sha256: String,
    pub is_ca: bool,
    pub self_signed: bool,
}

impl TargetRow {
    /// What was accepted for `rule`, and still counts.
    pub fn acceptance(&self, rule: &str) -> Option<&AcceptedRow> {
        self.accepted.iter().find(|one| one.rule == rule && !one.is_expired)
    }

    /// What was accepted for `rule` and counts no more.
    pub fn expired(&self, rule: &str) -> Option<&AcceptedRow> {
        self.accepted.iter().find(|one| one.rule == rule && one.is_expired)
    }
}

/// Which findings are news.
#[derive(Debug)]
pub struct News<'r>(Option<BTreeSet<(&'r str, Option<&'r str>, &'r str)>>);

impl News<'_> {
    /// Everything is where there is no baseline.
    pub fn has(&self, target: &TargetRow, finding: &FindingRow) -> bool {
        self.0.as_ref().is_none_or(|set| {
            set.contains(&(target.target.as_str(), target.address.as_deref(), finding.rule.as_str()))
        })
    }
}

impl ScanReport {
    pub fn news(&self) -> News<'_> {
        News(self.changes.as_ref().map(|changes| {
            changes
                .targets
                .iter()
                .flat_map(|one| {
                    one.appeared
                        .iter()
                        .map(move |new| (one.target.as_str(), one.address.as_deref(), new.rule.as_str()))
                })
                .collect()
        }))
    }
}

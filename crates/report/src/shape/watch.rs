//! What `sealion watch` keeps, as others see it: `sealion watch --format json`, and the `.json` of each page of `sealion web`.

use serde::{Deserialize, Serialize};

use super::words::{LinkKindWord, SeverityWord, VerdictWord};

pub const WATCH_SCHEMA_ID: &str = "sealion/watch/1";
pub const FLEET_SCHEMA_ID: &str = "sealion/fleet/1";
pub const WATCH_SERVER_SCHEMA_ID: &str = "sealion/watch-server/1";
pub const WATCH_CERTIFICATES_SCHEMA_ID: &str = "sealion/watch-certificates/1";
pub const WATCH_FINDINGS_SCHEMA_ID: &str = "sealion/watch-findings/1";
pub const WATCH_EVENT_SCHEMA_ID: &str = "sealion/watch-event/1";

/// All clusters that are watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    pub schema: String,
    pub sealion_version: String,
    /// When this was put together.
    pub at_unix_ms: u64,
    pub clusters: Vec<WatchSummary>,
}

/// One cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchReport {
    pub schema: String,
    pub sealion_version: String,
    pub at_unix_ms: u64,
    pub summary: WatchSummary,
    pub servers: Vec<WatchServerRow>,
    pub links: Vec<WatchLinkRow>,
    pub certificates: Vec<WatchCertificateRow>,
    /// What servers were told, and what came of it.
    #[serde(default)]
    pub settings: Vec<WatchSettingRow>,
    /// Of servers whose option files a change has written.
    #[serde(default)]
    pub drift: Vec<WatchDriftRow>,
    /// What servers say of their files, with `--at-rest`.
    #[serde(default)]
    pub at_rest: Vec<WatchRestRow>,
    /// Those that failed or are unknown, the worst first.
    pub findings: Vec<WatchFindingRow>,
    /// The newest first.
    pub changes: Vec<WatchChangeRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchSummary {
    pub cluster: String,
    /// When a look last ended, whatever came of it.
    pub last_look_unix_ms: Option<u64>,
    /// When a look last got answers of all servers.
    pub last_success_unix_ms: Option<u64>,
    pub age_s: Option<u64>,
    /// The last look is older than two intervals: nothing here is taken for the present.
    pub is_stale: bool,
    pub interval_s: u64,
    pub servers: u32,
    pub servers_silent: u32,
    /// They were not asked, since the look failed as a whole.
    pub servers_unknown: u32,
    pub links_plain: u32,
    pub links_encrypted: u32,
    pub links_unknown: u32,
    pub findings: Vec<WatchCountRow>,
    /// Of the findings that failed.
    pub worst: Option<SeverityWord>,
    /// The nearest end of a certificate.
    pub not_after_unix: Option<i64>,
    pub not_looked_at: Vec<String>,
    /// Why the last look failed as a whole.
    pub error: Option<String>,
    /// Servers, links, and looks as a whole, of which nothing has been known for longer than six hours.
    #[serde(default)]
    pub unknown_lasting: u32,
    /// Servers whose option files are not as the last changes wrote them.
    #[serde(default)]
    pub servers_drifted: u32,
    /// Servers of which nobody can tell that.
    #[serde(default)]
    pub servers_drift_unknown: u32,
    /// Kinds of files at rest, each of a server, that were encrypted and are not.
    #[serde(default)]
    pub at_rest_fell_back: u32,
    #[serde(default)]
    pub at_rest_unknown: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchCountRow {
    pub severity: SeverityWord,
    pub fail: u32,
    pub unknown: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchServerRow {
    pub server: String,
    pub address: String,
    pub version: Option<String>,
    pub state: WatchServerWord,
    /// `Synced, Primary of 3`, or why there is no answer.
    pub note: String,
    pub last_success_unix_ms: Option<u64>,
    /// Since when nothing is known of it; `null`: it answers.
    #[serde(default)]
    pub unknown_since_unix_ms: Option<u64>,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchLinkRow {
    pub kind: LinkKindWord,
    pub from: String,
    pub to: String,
    pub state: WatchLinkWord,
    pub why: String,
    /// Since when nobody knows; `null`: it is known.
    #[serde(default)]
    pub unknown_since_unix_ms: Option<u64>,
    /// Since when it is in this state.
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchCertificateRow {
    pub server: String,
    #[serde(rename = "use")]
    pub usage: String,
    /// Where it was read.
    pub seen: String,
    pub fingerprint: Option<String>,
    pub not_before_unix: Option<i64>,
    pub not_after_unix: Option<i64>,
    /// Whether it was read in the last look; otherwise it is as it was read before, and `why` says why.
    pub is_current: bool,
    pub why: String,
    /// The server serves another one than its file has. `null`: not known.
    pub reload_pending: Option<bool>,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// What a server was told about one kind of traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchSettingRow {
    pub server: String,
    /// `galera`, `client`, …
    pub what: String,
    /// By the option files, which the next start reads.
    pub configured: String,
    /// In the running server.
    pub effective: String,
    /// On the wire.
    pub seen: String,
    /// Whether it was read in the last look; otherwise it is as it was read before, and `why` says why.
    pub is_current: bool,
    pub why: String,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchFindingRow {
    pub rule: String,
    pub title: String,
    pub severity: SeverityWord,
    pub subject: String,
    pub verdict: VerdictWord,
    pub why: String,
    pub remedy: String,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// One server of a cluster: what is about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchServerReport {
    pub schema: String,
    pub sealion_version: String,
    pub at_unix_ms: u64,
    /// Its cluster.
    pub summary: WatchSummary,
    pub server: WatchServerRow,
    pub links: Vec<WatchLinkRow>,
    pub certificates: Vec<WatchCertificateRow>,
    pub settings: Vec<WatchSettingRow>,
    /// One, or none.
    #[serde(default)]
    pub drift: Vec<WatchDriftRow>,
    #[serde(default)]
    pub at_rest: Vec<WatchRestRow>,
    /// Those that failed or are unknown, the worst first.
    pub findings: Vec<WatchFindingRow>,
    /// The newest first.
    pub changes: Vec<WatchChangeRow>,
}

/// Whether option files are as the last finished changes wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchDriftRow {
    pub server: String,
    pub state: WatchDriftWord,
    /// The id of the last change that wrote them.
    pub change: String,
    /// What differs, or why nobody knows.
    pub why: String,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// What a server says of its files of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchRestRow {
    pub server: String,
    pub what: String,
    pub state: WatchRestWord,
    /// Counts are as they were last read.
    pub encrypted: u32,
    pub plain: u32,
    pub unknown: u32,
    pub fell_back_unix_ms: Option<u64>,
    pub is_current: bool,
    pub why: String,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// The certificates of all clusters, by their ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchCertificatesReport {
    pub schema: String,
    pub sealion_version: String,
    pub at_unix_ms: u64,
    pub certificates: Vec<OfCluster<WatchCertificateRow>>,
}

/// What failed or is unknown, of all clusters, the worst first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchFindingsReport {
    pub schema: String,
    pub sealion_version: String,
    pub at_unix_ms: u64,
    pub findings: Vec<OfCluster<WatchFindingRow>>,
}

/// Something, and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfCluster<T> {
    pub cluster: String,
    /// The last look at it is older than two intervals: this is not taken for the present.
    pub is_stale: bool,
    #[serde(flatten)]
    pub row: T,
}

/// A time in which something was in one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchChangeRow {
    pub family: String,
    pub subject: String,
    pub state: String,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// What the program of `sealion watch --on-change` reads: changes that it was not told yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchEventReport {
    pub schema: String,
    pub sealion_version: String,
    pub at_unix_ms: u64,
    pub cluster: String,
    /// 1, unless the program has failed with the oldest of these changes before.
    pub attempt: u32,
    /// Changes that it will never be told: it failed for too long.
    pub dropped: u64,
    /// The oldest first.
    pub changes: Vec<WatchEventRow>,
    /// The cluster as it is now.
    pub summary: WatchSummary,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchEventRow {
    /// Of the look that saw it.
    pub at_unix_ms: u64,
    pub family: String,
    pub subject: String,
    /// `null`: it was not there, or not known.
    pub from: Option<String>,
    /// `null`: it is no longer there.
    pub to: Option<String>,
}

super::words::words! {
    /// What was seen on a link. `unknown` is never `encrypted`.
    WatchLinkWord {
        Plain = "plain",
        Encrypted = "encrypted",
        /// The peer's identity was checked too.
        Verified = "verified",
        /// It should carry something, and does not.
        Broken = "broken",
        Unknown = "unknown",
    }
}
super::words::words! {
    WatchServerWord {
        Up = "up",
        /// It did not answer.
        Silent = "silent",
        /// It was not asked.
        Unknown = "unknown",
    }
}
super::words::words! {
    WatchDriftWord {
        Same = "same",
        Drifted = "drifted",
        Unknown = "unknown",
    }
}
super::words::words! {
    /// What a server says: nobody has looked at the bytes.
    WatchRestWord {
        Encrypted = "encrypted",
        Plain = "plain",
        Mixed = "mixed",
        Unknown = "unknown",
    }
}

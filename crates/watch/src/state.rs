//! What is known of a cluster, and what a look makes of it. No I/O, and the time is handed in.
//!
//! Two rules hold everywhere: what a look did not see is `unknown` and not what it was before, and an earlier date is kept where it is
//! said that it is one.

use std::collections::BTreeMap;

use model::{LinkKind, Severity};
use serde::{Deserialize, Serialize};

use crate::counts::Counts;

/// The states of a link, as they are published. The first two are what `model::link::judge` calls plain and sealed; nothing here
/// makes one of them out of anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkState {
    Plain,
    Encrypted,
    Verified,
    Broken,
    Unknown,
}

impl LinkState {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Encrypted, Self::Verified, Self::Broken, Self::Unknown];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
            Self::Verified => "verified",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    Up,
    Silent,
    /// It was not asked.
    Unknown,
}

impl ServerState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Silent => "silent",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingState {
    Pass,
    Fail,
    Unknown,
}

impl FindingState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether option files are as the last finished changes wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftState {
    Same,
    Drifted,
    Unknown,
}

impl DriftState {
    pub const ALL: [Self; 3] = [Self::Same, Self::Drifted, Self::Unknown];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Drifted => "drifted",
            Self::Unknown => "unknown",
        }
    }
}

/// What a server says of its files of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RestState {
    Encrypted,
    Plain,
    /// Some are, some are not.
    Mixed,
    Unknown,
}

impl RestState {
    pub const ALL: [Self; 4] = [Self::Encrypted, Self::Plain, Self::Mixed, Self::Unknown];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Plain => "plain",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}

/// How many of them; of a switch (`innodb_encrypt_log`) one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestCounts {
    pub encrypted: u32,
    pub plain: u32,
    pub unknown: u32,
}

impl RestCounts {
    pub const fn state(self) -> RestState {
        match (self.encrypted, self.plain, self.unknown) {
            (_, 0, 1..) | (0, 0, 0) => RestState::Unknown,
            (0, ..) => RestState::Plain,
            (_, 0, 0) => RestState::Encrypted,
            _ => RestState::Mixed,
        }
    }

    /// What was encrypted is not any more: nothing was plain before, or the one grew by what the other lost.
    const fn fell_back_from(self, before: Self) -> bool {
        self.plain > before.plain
            && before.encrypted > 0
            && (before.plain == 0 || self.encrypted < before.encrypted)
    }
}

/// Why a look failed; a label of a counter, so they are few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A server did not answer.
    NoAnswer,
    /// A server refused the login.
    Login,
    /// Packets could not be captured.
    Wire,
    /// The look took longer than it may.
    Timeout,
    /// The outcome could not be kept.
    Store,
    Internal,
}

impl Reason {
    pub const OF_SERVERS: [Self; 2] = [Self::NoAnswer, Self::Login];
    pub const OF_CLUSTERS: [Self; 4] = [Self::Wire, Self::Timeout, Self::Store, Self::Internal];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoAnswer => "no_answer",
            Self::Login => "login",
            Self::Wire => "wire",
            Self::Timeout => "timeout",
            Self::Store => "store",
            Self::Internal => "internal",
        }
    }
}

/// One look, as it came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// All that are watched, whether they answered or not.
    pub servers: Vec<String>,
    pub took_ms: u64,
    pub interval_s: u64,
    pub outcome: Result<Sights, Failure>,
}

/// Nothing at all was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub reason: Reason,
    pub why: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sights {
    pub servers: Vec<ServerSight>,
    pub links: Vec<LinkSight>,
    pub certificates: Vec<CertificateSight>,
    pub settings: Vec<SettingSight>,
    pub findings: Vec<FindingSight>,
    pub drift: Vec<DriftSight>,
    pub at_rest: Vec<RestSight>,
    /// Why no link was checked, and whether that is an error.
    pub wire_unseen: Option<(String, bool)>,
    pub not_looked_at: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ServerSight {
    pub name: String,
    pub address: String,
    /// Version and state, or why there is no answer.
    pub answer: Result<(String, String), Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSight {
    pub kind: LinkKind,
    pub a: String,
    pub b: String,
    pub state: LinkState,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateSight {
    pub server: String,
    pub usage: String,
    pub seen: String,
    pub facts: Result<Certificate, String>,
}

/// What a server was told about one kind of traffic, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingSight {
    pub server: String,
    pub what: String,
    pub configured: String,
    pub effective: String,
    pub seen: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingSight {
    pub rule: String,
    pub subject: String,
    pub title: String,
    pub severity: Severity,
    pub remedy: String,
    pub state: FindingState,
    pub why: String,
}

/// Of a server whose option files a finished change has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriftSight {
    pub server: String,
    pub state: DriftState,
    /// The last change that wrote them.
    pub change: String,
    pub why: String,
}

/// What a server says of its files of one kind: `tablespaces`, `redo log`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestSight {
    pub server: String,
    pub what: String,
    pub counts: Result<RestCounts, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    pub fingerprint: String,
    pub not_before_unix: i64,
    pub not_after_unix: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "lowercase")]
pub enum Body {
    Server {
        name: String,
        address: String,
        state: ServerState,
        version: Option<String>,
        note: String,
        last_success_unix_ms: Option<u64>,
    },
    Link {
        kind: LinkKind,
        a: String,
        b: String,
        state: LinkState,
        why: String,
    },
    Certificate {
        server: String,
        usage: String,
        seen: String,
        /// As it was last read.
        facts: Option<Certificate>,
        /// Why it could not be read now; then `facts` are of an earlier look.
        unread: Option<String>,
    },
    Setting {
        server: String,
        what: String,
        configured: String,
        effective: String,
        seen: String,
        /// Why it could not be read now; then it is as an earlier look read it.
        unread: Option<String>,
    },
    Finding {
        rule: String,
        subject: String,
        title: String,
        severity: Severity,
        remedy: String,
        state: FindingState,
        why: String,
    },
    Drift {
        server: String,
        state: DriftState,
        change: String,
        why: String,
    },
    AtRest {
        server: String,
        what: String,
        /// As they were last read.
        counts: RestCounts,
        /// Why they could not be read now.
        unread: Option<String>,
        /// When something was plain that had been encrypted; until nothing is plain.
        fell_back_unix_ms: Option<u64>,
    },
}

/// What an entry is about: its family, and its name there.
pub type Key = (&'static str, String);

impl Body {
    pub fn key(&self) -> Key {
        match self {
            Self::Server { name, .. } => ("server", name.clone()),
            // Names may have hyphens, and no blanks.
            Self::Link { kind, a, b, .. } => ("link", format!("{kind} {a} - {b}")),
            Self::Certificate { server, usage, seen, .. } => {
                ("certificate", format!("{server} {usage} {seen}"))
            }
            Self::Setting { server, what, .. } => ("setting", format!("{server} {what}")),
            Self::Finding { rule, subject, .. } => ("finding", format!("{rule} {subject}")),
            Self::Drift { server, .. } => ("drift", server.clone()),
            Self::AtRest { server, what, .. } => ("atrest", format!("{server} {what}")),
        }
    }

    /// One word (of a certificate its fingerprint): while it is the same, it is one entry of the history.
    pub fn word(&self) -> String {
        match self {
            Self::Server { state, .. } => state.as_str().into(),
            Self::Link { state, .. } => state.as_str().into(),
            Self::Certificate { unread: Some(_), .. } => "unknown".into(),
            Self::Certificate { facts, .. } => {
                facts.as_ref().map_or_else(|| "unknown".into(), |facts| facts.fingerprint.clone())
            }
            Self::Setting { unread: Some(_), .. } => "unknown".into(),
            // An option file that was changed is a change too, long before the restart that reads it.
            Self::Setting { configured, effective, .. } if configured == effective => effective.clone(),
            Self::Setting { configured, effective, .. } => format!("{effective} (configured: {configured})"),
            Self::Finding { state, .. } => state.as_str().into(),
            Self::Drift { state, .. } => state.as_str().into(),
            // Where some were plain before, that one more is plain is a change too, and each time.
            Self::AtRest { fell_back_unix_ms: Some(at), .. } if self.rest_state() == RestState::Mixed => {
                format!("mixed, fell back at {}", model::clock::rfc3339(*at))
            }
            Self::AtRest { .. } => self.rest_state().as_str().into(),
        }
    }
}

impl Body {
    /// Of an [`Body::AtRest`]; what was not read now is unknown.
    pub const fn rest_state(&self) -> RestState {
        match self {
            Self::AtRest { counts, unread: None, .. } => counts.state(),
            _ => RestState::Unknown,
        }
    }

    /// Nobody knows it: a server that does not answer or was not asked, a link that could not be judged.
    const fn is_unknown(&self) -> bool {
        match self {
            Self::Server { state, .. } => !matches!(state, ServerState::Up),
            Self::Link { state, .. } => matches!(state, LinkState::Unknown),
            _ => false,
        }
    }
}

/// Something in one state, from when to when it was seen so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub body: Body,
    pub first_seen_unix_ms: u64,
    pub last_seen_unix_ms: u64,
}

/// How long looks took: cumulative counts, as Prometheus has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// Up to each of [`BUCKETS_MS`].
    pub counts: Vec<u64>,
    pub count: u64,
    pub sum_ms: u64,
}

/// From a server on loopback to the longest look that may be asked for.
pub const BUCKETS_MS: [u64; 8] = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000];

impl Durations {
    fn add(&mut self, took_ms: u64) {
        self.counts.resize(BUCKETS_MS.len(), 0);
        for (count, up_to) in self.counts.iter_mut().zip(BUCKETS_MS) {
            *count += u64::from(took_ms <= up_to);
        }
        self.count += 1;
        self.sum_ms = self.sum_ms.saturating_add(took_ms);
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub last_look_unix_ms: Option<u64>,
    /// When all servers answered.
    pub last_success_unix_ms: Option<u64>,
    pub interval_s: u64,
    /// By server (empty: the cluster) and reason.
    pub errors: BTreeMap<String, BTreeMap<Reason, u64>>,
    pub durations: Durations,
    pub not_looked_at: Vec<String>,
    pub error: Option<String>,
    /// `None`: a sealion before there were any has kept it.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// Of each server and link ([`unknown_key`]), and of looks ([`LOOK`]): since when nothing is known of it.
    #[serde(default)]
    pub unknown_since: BTreeMap<String, u64>,
    /// What is to be known of rotations by the next process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<RotationKept>,
}

/// Of certificates that are replaced by `[watch.rotate]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationKept {
    /// Which certificates, as the inventory names them.
    pub what: String,
    /// One was begun, and nobody has seen that it ended, or that its change was closed.
    pub is_open: bool,
    pub last_done_unix_ms: Option<u64>,
    /// None begins before.
    pub next_unix_ms: Option<u64>,
}

/// What is unknown for so long is told as such: idle links are unknown for minutes or hours, and a night has more than six.
pub const UNKNOWN_LASTS_S: u64 = 6 * 3600;
/// The looks themselves, which fail as a whole.
pub const LOOK: &str = "look";

/// Of a link or a server in [`Meta::unknown_since`].
pub fn unknown_key((family, subject): &Key) -> String {
    format!("{family} {subject}")
}

impl Meta {
    pub fn count_error(&mut self, server: &str, reason: Reason) {
        *self.errors.entry(server.to_owned()).or_default().entry(reason).or_default() += 1;
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub entries: BTreeMap<Key, Entry>,
    pub meta: Meta,
}

/// What a look changed: from a word to another; `None`: it was not there, or is there no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: Key,
    pub from: Option<String>,
    pub to: Option<String>,
}

/// Why the things of one server, or all of them, were not seen.
struct Unseen<'l> {
    /// Of the whole look.
    all: Option<&'l str>,
    wire: Option<&'l str>,
    silent: Vec<&'l str>,
}

impl Unseen<'_> {
    fn of_server(&self, server: &str) -> Option<String> {
        if let Some(why) = self.all {
            return Some(format!("the last look failed: {why}"));
        }
        self.silent.contains(&server).then(|| format!("{server} did not answer"))
    }

    fn of_link(&self, a: &str, b: &str) -> Option<String> {
        let of_wire = || self.wire.map(|why| format!("no link was checked: {why}"));
        self.of_server(a).or_else(|| self.of_server(b)).or_else(of_wire)
    }
}

/// What is known after a look, and what it changed.
pub fn advance(old: &State, look: &Look, now_unix_ms: u64) -> (State, Vec<Change>) {
    let nothing = Sights::default();
    let (sights, failure) = match &look.outcome {
        Ok(sights) => (sights, None),
        Err(failure) => (&nothing, Some(failure)),
    };
    let silent: Vec<&str> =
        sights
            .servers
            .iter()
            .filter(|server| server.answer.is_err())
            .map(|server| server.name.as_str())
            // Asked for, and not even mentioned.
            .chain(look.servers.iter().map(String::as_str).filter(|name| {
                failure.is_none() && !sights.servers.iter().any(|server| server.name == **name)
            }))
            .collect();
    let unseen = Unseen {
        all: failure.map(|failure| failure.why.as_str()),
        wire: sights.wire_unseen.as_ref().map(|(why, _)| why.as_str()),
        silent,
    };
    let mut bodies: BTreeMap<Key, Body> = BTreeMap::new();
    // Subjects of findings are texts, and two links can have the same: then the worst is told.
    let mut put = |body: Body| {
        let key = body.key();
        if bodies.get(&key).is_none_or(|there| alarm(&body) >= alarm(there)) {
            bodies.insert(key, body);
        }
    };
    for name in &look.servers {
        put(server(old, sights, name, &unseen, now_unix_ms));
    }
    for link in &sights.links {
        let LinkSight { kind, a, b, state, why } = link.clone();
        put(Body::Link { kind, a, b, state, why });
    }
    // Clients of every server have a link, also where none could be looked at: what has no series raises no alert.
    for name in &look.servers {
        let (kind, a, b) = (LinkKind::Client, CLIENT.to_owned(), name.clone());
        let is_there =
            sights.links.iter().any(|link| link.kind == kind && (link.a == *name || link.b == *name));
        if !is_there {
            let why = unseen.of_link(&a, &b).unwrap_or_else(|| "nothing was seen on it".into());
            put(Body::Link { kind, a, b, state: LinkState::Unknown, why });
        }
    }
    for sight in &sights.certificates {
        put(certificate(old, sight));
    }
    for setting in &sights.settings {
        let SettingSight { server, what, configured, effective, seen } = setting.clone();
        put(Body::Setting { server, what, configured, effective, seen, unread: None });
    }
    for finding in &sights.findings {
        let FindingSight { rule, subject, title, severity, remedy, state, why } = finding.clone();
        put(Body::Finding { rule, subject, title, severity, remedy, state, why });
    }
    for sight in &sights.drift {
        let DriftSight { server, state, change, why } = sight.clone();
        put(Body::Drift { server, state, change, why });
    }
    for sight in &sights.at_rest {
        put(at_rest(old, sight, now_unix_ms));
    }
    for (key, entry) in &old.entries {
        if !bodies.contains_key(key)
            && let Some(body) = faded(&entry.body, look, &unseen)
        {
            bodies.insert(key.clone(), body);
        }
    }
    let entries: BTreeMap<Key, Entry> = bodies
        .into_iter()
        .map(|(key, body)| {
            // A clock that was set back makes no state end before it began.
            let first = old
                .entries
                .get(&key)
                .filter(|before| before.body.word() == body.word())
                .map_or(now_unix_ms, |before| before.first_seen_unix_ms);
            let entry = Entry { body, first_seen_unix_ms: first, last_seen_unix_ms: now_unix_ms.max(first) };
            (key, entry)
        })
        .collect();
    let mut meta = meta(old, look, sights, failure, &unseen, now_unix_ms);
    meta.counts = Some(Counts::of(&entries));
    meta.unknown_since = unknown_since(old, &entries, failure.is_some(), now_unix_ms);
    let changes = changes(&old.entries, &entries);
    (State { entries, meta }, changes)
}

/// As looks call whoever connects to a server.
const CLIENT: &str = "client";

fn alarm(body: &Body) -> u8 {
    match body {
        Body::Finding { state: FindingState::Fail, .. } | Body::Link { state: LinkState::Plain, .. } => 2,
        Body::Finding { state: FindingState::Unknown, .. }
        | Body::Link { state: LinkState::Unknown | LinkState::Broken, .. } => 1,
        _ => 0,
    }
}

fn meta(
    old: &State,
    look: &Look,
    sights: &Sights,
    failure: Option<&Failure>,
    unseen: &Unseen<'_>,
    now_unix_ms: u64,
) -> Meta {
    let mut meta = old.meta.clone();
    meta.last_look_unix_ms = Some(now_unix_ms);
    meta.interval_s = look.interval_s;
    meta.durations.add(look.took_ms);
    meta.not_looked_at.clone_from(&sights.not_looked_at);
    meta.error = failure.map(|failure| failure.why.clone());
    meta.errors.retain(|server, _| server.is_empty() || look.servers.contains(server));
    if failure.is_none() && unseen.silent.is_empty() {
        meta.last_success_unix_ms = Some(now_unix_ms);
    }
    // From the beginning, so that the first error is a rise.
    for reason in Reason::OF_CLUSTERS {
        meta.errors.entry(String::new()).or_default().entry(reason).or_default();
    }
    for server in &look.servers {
        for reason in Reason::OF_SERVERS {
            meta.errors.entry(server.clone()).or_default().entry(reason).or_default();
        }
    }
    if let Some(failure) = failure {
        meta.count_error("", failure.reason);
    }
    if let Some((_, true)) = sights.wire_unseen {
        meta.count_error("", Reason::Wire);
    }
    for server in unseen.silent.iter().filter(|_| failure.is_none()) {
        let sight = sights.servers.iter().find(|sight| sight.name == **server);
        let reason = sight.and_then(|sight| Some(sight.answer.as_ref().err()?.reason));
        meta.count_error(server, reason.unwrap_or(Reason::NoAnswer));
    }
    meta
}

fn server(old: &State, sights: &Sights, name: &str, unseen: &Unseen<'_>, now_unix_ms: u64) -> Body {
    let (old_address, old_version, old_success) =
        match old.entries.get(&("server", name.to_owned())).map(|entry| &entry.body) {
            Some(Body::Server { address, version, last_success_unix_ms, .. }) => {
                (address.clone(), version.clone(), *last_success_unix_ms)
            }
            _ => (String::new(), None, None),
        };
    let sight = sights.servers.iter().find(|server| server.name == name);
    let address = sight.map_or(old_address, |sight| sight.address.clone());
    let name = name.to_owned();
    match sight.map(|sight| &sight.answer) {
        Some(Ok((version, note))) => Body::Server {
            name,
            address,
            state: ServerState::Up,
            version: Some(version.clone()),
            note: note.clone(),
            last_success_unix_ms: Some(now_unix_ms),
        },
        answer => Body::Server {
            address,
            state: if unseen.all.is_some() { ServerState::Unknown } else { ServerState::Silent },
            version: old_version,
            note: match answer {
                Some(Err(failure)) => failure.why.clone(),
                _ => unseen.of_server(&name).unwrap_or_default(),
            },
            last_success_unix_ms: old_success,
            name,
        },
    }
}

/// A server that is silent in one look and not asked in the next is unknown all the while, so this is not the beginning of an entry.
fn unknown_since(
    old: &State,
    entries: &BTreeMap<Key, Entry>,
    has_failed: bool,
    now_unix_ms: u64,
) -> BTreeMap<String, u64> {
    let since = |key: String, before: Option<&Entry>| {
        // One that an earlier sealion has kept was in this state since it was first seen in it.
        let of_entry = || before.filter(|one| one.body.is_unknown()).map(|one| one.first_seen_unix_ms);
        let at = old.meta.unknown_since.get(&key).copied().or_else(of_entry);
        (key, at.unwrap_or(now_unix_ms).min(now_unix_ms))
    };
    entries
        .iter()
        .filter(|(_, entry)| entry.body.is_unknown())
        .map(|(key, _)| since(unknown_key(key), old.entries.get(key)))
        .chain(has_failed.then(|| since(LOOK.into(), None)))
        .collect()
}

fn at_rest(old: &State, sight: &RestSight, now_unix_ms: u64) -> Body {
    let (server, what) = (sight.server.clone(), sight.what.clone());
    let before = match old.entries.get(&("atrest", format!("{server} {what}"))).map(|entry| &entry.body) {
        Some(Body::AtRest { counts, fell_back_unix_ms, .. }) => Some((*counts, *fell_back_unix_ms)),
        _ => None,
    };
    let (counts, unread) = match &sight.counts {
        Ok(counts) => (*counts, None),
        Err(why) => (before.map_or_else(RestCounts::default, |(counts, _)| counts), Some(why.clone())),
    };
    let fell_back_unix_ms = match before {
        _ if unread.is_none() && counts.plain == 0 && counts.unknown == 0 => None,
        Some((earlier, _)) if unread.is_none() && counts.fell_back_from(earlier) => Some(now_unix_ms),
        Some((_, at)) => at,
        None => None,
    };
    Body::AtRest { server, what, counts, unread, fell_back_unix_ms }
}

fn certificate(old: &State, sight: &CertificateSight) -> Body {
    let (server, usage, seen) = (sight.server.clone(), sight.usage.clone(), sight.seen.clone());
    match &sight.facts {
        Ok(facts) => Body::Certificate { server, usage, seen, facts: Some(facts.clone()), unread: None },
        Err(why) => {
            let mut body = Body::Certificate { server, usage, seen, facts: None, unread: Some(why.clone()) };
            let before = old.entries.get(&body.key()).map(|entry| &entry.body);
            if let (Body::Certificate { facts, .. }, Some(Body::Certificate { facts: earlier, .. })) =
                (&mut body, before)
            {
                facts.clone_from(earlier);
            }
            body
        }
    }
}

/// What becomes of something that the look did not mention. `None`: it is no longer there.
fn faded(body: &Body, look: &Look, unseen: &Unseen<'_>) -> Option<Body> {
    let is_watched = |name: &str| look.servers.iter().any(|server| server == name);
    match body {
        // All that are watched have been put.
        Body::Server { .. } => None,
        Body::Link { kind, a, b, .. } => {
            // A transfer is an event: its link is there while it lasts.
            if matches!(kind, LinkKind::Ist | LinkKind::Sst) || !(is_watched(a) || is_watched(b)) {
                return None;
            }
            let why = unseen.of_link(a, b)?;
            let (kind, a, b) = (*kind, a.clone(), b.clone());
            Some(Body::Link { kind, a, b, state: LinkState::Unknown, why })
        }
        Body::Certificate { server, usage, seen, facts, .. } => {
            let why = unseen.of_server(server).filter(|_| is_watched(server))?;
            Some(Body::Certificate {
                server: server.clone(),
                usage: usage.clone(),
                seen: seen.clone(),
                facts: facts.clone(),
                unread: Some(why),
            })
        }
        Body::Setting { server, .. } => {
            let why = unseen.of_server(server).filter(|_| is_watched(server))?;
            let mut body = body.clone();
            if let Body::Setting { unread, .. } = &mut body {
                *unread = Some(why);
            }
            Some(body)
        }
        Body::Drift { server, change, .. } => {
            // A machine tells of its files also where its server is silent; only a look that failed says nothing of them.
            let why = unseen.all.filter(|_| is_watched(server))?;
            let (server, change) = (server.clone(), change.clone());
            Some(Body::Drift {
                server,
                state: DriftState::Unknown,
                change,
                why: format!("the last look failed: {why}"),
            })
        }
        Body::AtRest { server, .. } => {
            // It answered, and not this question.
            let refused = || {
                let sights = look.outcome.as_ref().ok()?;
                sights.at_rest.iter().find(|sight| sight.server == *server)?.counts.as_ref().err().cloned()
            };
            let why = unseen.of_server(server).or_else(refused).filter(|_| is_watched(server))?;
            let mut body = body.clone();
            if let Body::AtRest { unread, .. } = &mut body {
                *unread = Some(why);
            }
            Some(body)
        }
        Body::Finding { rule, subject, title, severity, remedy, .. } => {
            let why = match unseen.all {
                Some(why) => format!("the last look failed: {why}"),
                None => unseen_subject(subject, look, unseen)?,
            };
            Some(Body::Finding {
                rule: rule.clone(),
                subject: subject.clone(),
                title: title.clone(),
                severity: *severity,
                remedy: remedy.clone(),
                state: FindingState::Unknown,
                why,
            })
        }
    }
}

/// Whether a subject (`n1`, `n1 galera`, `galera n1-n2`, `galera n1 - n2`) is about this server, or about a link of it.
pub fn is_about(subject: &str, server: &str) -> bool {
    if is_of(subject, server) {
        return true;
    }
    let ends = LinkKind::ALL.iter().find_map(|kind| subject.strip_prefix(kind.as_str())?.strip_prefix(' '));
    ends.is_some_and(|ends| touches(ends, server))
}

/// `n1`, `n1 galera`: names have no blanks.
fn is_of(subject: &str, server: &str) -> bool {
    subject == server || subject.strip_prefix(server).is_some_and(|rest| rest.starts_with(' '))
}

/// `n1-n2`, `n1 - n2`.
fn touches(ends: &str, server: &str) -> bool {
    ends.strip_prefix(server).is_some_and(|rest| rest.starts_with(['-', ' ']))
        || ends.strip_suffix(server).is_some_and(|rest| rest.ends_with(['-', ' ']))
}

/// Why a subject (`n1`, `n1 galera`, `galera n1-n2`, the cluster) was not judged. `None`: it was looked at, and the rule had nothing to say.
fn unseen_subject(subject: &str, look: &Look, unseen: &Unseen<'_>) -> Option<String> {
    if let Some(server) = look.servers.iter().find(|server| is_of(subject, server)) {
        return unseen.of_server(server);
    }
    let mut kinds = LinkKind::ALL.iter();
    let ends = kinds.find_map(|kind| subject.strip_prefix(kind.as_str())?.strip_prefix(' '));
    if let Some(ends) = ends {
        let of_ends = look.servers.iter().filter(|server| touches(ends, server));
        let mut of_ends = of_ends.filter_map(|server| unseen.of_server(server));
        return of_ends.next().or_else(|| unseen.wire.map(|why| format!("no link was checked: {why}")));
    }
    // Of the cluster as a whole: whoever is silent may have been the one to say it.
    unseen.silent.first().map(|server| format!("{server} did not answer"))
}

fn changes(old: &BTreeMap<Key, Entry>, new: &BTreeMap<Key, Entry>) -> Vec<Change> {
    let word = |entry: Option<&Entry>| entry.map(|entry| entry.body.word());
    old.keys()
        .chain(new.keys().filter(|key| !old.contains_key(*key)))
        .map(|key| Change { key: key.clone(), from: word(old.get(key)), to: word(new.get(key)) })
        .filter(|change| change.from != change.to)
        .collect()
}

#[cfg(test)]
mod tests;

//! The state as others see it: the published shapes.

use report::shape::{
    FLEET_SCHEMA_ID, FleetReport, SeverityWord, VerdictWord, WATCH_SCHEMA_ID, WatchCertificateRow,
    WatchChangeRow, WatchCountRow, WatchFindingRow, WatchLinkRow, WatchLinkWord, WatchReport, WatchServerRow,
    WatchServerWord, WatchSummary,
};
use store::{Store, StoreError, WatchRow};

use crate::keep;
use crate::metrics::reload_pending;
use crate::state::{Body, Entry, FindingState, LinkState, ServerState, State};

/// Of the history, on a page.
pub const CHANGES_MAX: u32 = 200;
/// A look is late behind so many intervals.
const STALE_INTERVALS: u64 = 2;
/// Clocks of two programs on one machine are the same; reading them takes a moment.
const AHEAD_MS_MAX: u64 = 5_000;
const SEVERITIES: &[SeverityWord] = SeverityWord::ALL;

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn link_word(state: LinkState) -> WatchLinkWord {
    match state {
        LinkState::Plain => WatchLinkWord::Plain,
        LinkState::Encrypted => WatchLinkWord::Encrypted,
        LinkState::Verified => WatchLinkWord::Verified,
        LinkState::Broken => WatchLinkWord::Broken,
        LinkState::Unknown => WatchLinkWord::Unknown,
    }
}

pub fn summary(cluster: &str, state: &State, now_unix_ms: u64) -> WatchSummary {
    let bodies = || state.entries.values().map(|entry| &entry.body);
    let links = |wanted: &[LinkState]| {
        count(
            bodies()
                .filter(|body| matches!(body, Body::Link { state, .. } if wanted.contains(state)))
                .count(),
        )
    };
    let servers = |wanted: ServerState| {
        count(bodies().filter(|body| matches!(body, Body::Server { state, .. } if *state == wanted)).count())
    };
    let findings = |severity: SeverityWord, wanted: FindingState| {
        let is_such = |body: &&Body| matches!(body, Body::Finding { severity: one, state, .. } if SeverityWord::from(*one) == severity && *state == wanted);
        count(bodies().filter(is_such).count())
    };
    let counts: Vec<WatchCountRow> = SEVERITIES
        .iter()
        .map(|severity| WatchCountRow {
            severity: *severity,
            fail: findings(*severity, FindingState::Fail),
            unknown: findings(*severity, FindingState::Unknown),
        })
        .collect();
    let ends = bodies().filter_map(|body| match body {
        Body::Certificate { facts: Some(facts), .. } => Some(facts.not_after_unix),
        _ => None,
    });
    let meta = &state.meta;
    let age_s = meta.last_look_unix_ms.map(|at| now_unix_ms.saturating_sub(at) / 1000);
    WatchSummary {
        cluster: cluster.to_owned(),
        last_look_unix_ms: meta.last_look_unix_ms,
        last_success_unix_ms: meta.last_success_unix_ms,
        age_s,
        // One that lies ahead is of a clock that was set back since.
        is_stale: age_s.is_none_or(|age_s| age_s > STALE_INTERVALS * meta.interval_s)
            || meta.last_look_unix_ms.is_some_and(|at| at > now_unix_ms + AHEAD_MS_MAX),
        interval_s: meta.interval_s,
        servers: count(bodies().filter(|body| matches!(body, Body::Server { .. })).count()),
        servers_silent: servers(ServerState::Silent),
        servers_unknown: servers(ServerState::Unknown),
        links_plain: links(&[LinkState::Plain]),
        links_encrypted: links(&[LinkState::Encrypted, LinkState::Verified]),
        links_unknown: links(&[LinkState::Unknown, LinkState::Broken]),
        worst: counts.iter().rev().find(|row| row.fail > 0).map(|row| row.severity),
        findings: counts,
        not_after_unix: ends.min(),
        not_looked_at: meta.not_looked_at.clone(),
        error: meta.error.clone(),
    }
}

pub fn cluster(name: &str, state: &State, history: &[WatchRow], now_unix_ms: u64) -> WatchReport {
    let mut report = WatchReport {
        schema: WATCH_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        at_unix_ms: now_unix_ms,
        summary: summary(name, state, now_unix_ms),
        servers: Vec::new(),
        links: Vec::new(),
        certificates: Vec::new(),
        findings: Vec::new(),
        changes: history.iter().map(change).collect(),
    };
    for entry in state.entries.values() {
        put(&mut report, state, entry);
    }
    report.findings.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then(a.verdict.cmp(&b.verdict)).then(a.rule.cmp(&b.rule))
    });
    report
}

fn put(report: &mut WatchReport, state: &State, entry: &Entry) {
    let (first_seen_unix_ms, last_seen_unix_ms) = (entry.first_seen_unix_ms, entry.last_seen_unix_ms);
    match entry.body.clone() {
        Body::Server { name, address, state, version, note, last_success_unix_ms } => {
            report.servers.push(WatchServerRow {
                server: name,
                address,
                version,
                state: match state {
                    ServerState::Up => WatchServerWord::Up,
                    ServerState::Silent => WatchServerWord::Silent,
                    ServerState::Unknown => WatchServerWord::Unknown,
                },
                note,
                last_success_unix_ms,
                first_seen_unix_ms,
                last_seen_unix_ms,
            });
        }
        Body::Link { kind, a, b, state, why } => report.links.push(WatchLinkRow {
            kind: kind.into(),
            from: a,
            to: b,
            state: link_word(state),
            why,
            first_seen_unix_ms,
            last_seen_unix_ms,
        }),
        Body::Certificate { server, usage, seen, facts, unread } => {
            report.certificates.push(WatchCertificateRow {
                reload_pending: reload_pending(state, &server, &usage),
                server,
                usage,
                seen,
                fingerprint: facts.as_ref().map(|facts| facts.fingerprint.clone()),
                not_before_unix: facts.as_ref().map(|facts| facts.not_before_unix),
                not_after_unix: facts.as_ref().map(|facts| facts.not_after_unix),
                is_current: unread.is_none(),
                why: unread.unwrap_or_default(),
                first_seen_unix_ms,
                last_seen_unix_ms,
            });
        }
        Body::Finding { rule, subject, title, severity, remedy, state, why } => {
            let verdict = match state {
                FindingState::Pass => return,
                FindingState::Fail => VerdictWord::Fail,
                FindingState::Unknown => VerdictWord::Unknown,
            };
            report.findings.push(WatchFindingRow {
                rule,
                title,
                severity: severity.into(),
                subject,
                verdict,
                why,
                remedy,
                first_seen_unix_ms,
                last_seen_unix_ms,
            });
        }
    }
}

fn change(row: &WatchRow) -> WatchChangeRow {
    WatchChangeRow {
        family: row.family.clone(),
        subject: row.subject.clone(),
        state: row.state.clone(),
        first_seen_unix_ms: row.first_seen_unix_ms,
        last_seen_unix_ms: row.last_seen_unix_ms,
    }
}

/// What is kept of one cluster; `None`: it is not watched.
///
/// # Errors
/// The store cannot be read.
pub fn read_cluster(store: &Store, name: &str, now_unix_ms: u64) -> Result<Option<WatchReport>, StoreError> {
    let Some(state) = keep::read(store, name)? else { return Ok(None) };
    let history = store.watch_history(name, CHANGES_MAX)?;
    Ok(Some(cluster(name, &state, &history, now_unix_ms)))
}

/// What is kept of all of them.
///
/// # Errors
/// The store cannot be read.
pub fn read_fleet(store: &Store, now_unix_ms: u64) -> Result<FleetReport, StoreError> {
    let mut clusters = Vec::new();
    for name in store.watched()? {
        if let Some(state) = keep::read(store, &name)? {
            clusters.push(summary(&name, &state, now_unix_ms));
        }
    }
    Ok(FleetReport {
        schema: FLEET_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        at_unix_ms: now_unix_ms,
        clusters,
    })
}

//! The state as others see it: the published shapes.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::Severity;
use report::shape::{
    FLEET_SCHEMA_ID, FleetReport, OfCluster, SeverityWord, VerdictWord, WATCH_CERTIFICATES_SCHEMA_ID,
    WATCH_FINDINGS_SCHEMA_ID, WATCH_SCHEMA_ID, WATCH_SERVER_SCHEMA_ID, WatchCertificateRow,
    WatchCertificatesReport, WatchChangeRow, WatchCountRow, WatchDriftRow, WatchDriftWord, WatchFindingRow,
    WatchFindingsReport, WatchLinkRow, WatchLinkWord, WatchReport, WatchRestRow, WatchRestWord,
    WatchServerReport, WatchServerRow, WatchServerWord, WatchSettingRow, WatchSummary,
};
use store::{Store, StoreError, WatchRow};

use crate::counts::Counts;
use crate::keep;
use crate::metrics::reload_pending;
use crate::state::{
    Body, DriftState, Entry, FindingState, LinkState, Meta, RestState, ServerState, State, UNKNOWN_LASTS_S,
    is_about, unknown_key,
};

/// Of the history, on a page.
pub const CHANGES_MAX: usize = 200;
/// So much of a cluster's history is searched for one of its servers.
const CHANGES_SEARCHED_MAX: usize = 10_000;
/// A look is late behind so many intervals.
const STALE_INTERVALS: u64 = 2;
/// Clocks of two programs on one machine are the same; reading them takes a moment.
const AHEAD_MS_MAX: u64 = 5_000;
const SEVERITIES: &[SeverityWord] = SeverityWord::ALL;

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
    summarized(cluster, &state.meta, &Counts::of(&state.entries), now_unix_ms)
}

fn age_s(meta: &Meta, now_unix_ms: u64) -> Option<u64> {
    meta.last_look_unix_ms.map(|at| now_unix_ms.saturating_sub(at) / 1000)
}

fn is_stale(meta: &Meta, now_unix_ms: u64) -> bool {
    // One that lies ahead is of a clock that was set back since.
    age_s(meta, now_unix_ms).is_none_or(|age_s| age_s > STALE_INTERVALS * meta.interval_s)
        || meta.last_look_unix_ms.is_some_and(|at| at > now_unix_ms + AHEAD_MS_MAX)
}

fn summarized(cluster: &str, meta: &Meta, counts: &Counts, now_unix_ms: u64) -> WatchSummary {
    let of = |map: &BTreeMap<Severity, u32>, wanted: SeverityWord| {
        let found = map.iter().find(|(severity, _)| SeverityWord::from(**severity) == wanted);
        found.map_or(0, |(_, count)| *count)
    };
    let findings: Vec<WatchCountRow> = SEVERITIES
        .iter()
        .map(|severity| WatchCountRow {
            severity: *severity,
            fail: of(&counts.findings_failed, *severity),
            unknown: of(&counts.findings_unknown, *severity),
        })
        .collect();
    WatchSummary {
        cluster: cluster.to_owned(),
        last_look_unix_ms: meta.last_look_unix_ms,
        last_success_unix_ms: meta.last_success_unix_ms,
        age_s: age_s(meta, now_unix_ms),
        is_stale: is_stale(meta, now_unix_ms),
        interval_s: meta.interval_s,
        servers: counts.servers,
        servers_silent: counts.servers_silent,
        servers_unknown: counts.servers_unknown,
        links_plain: counts.links_plain,
        links_encrypted: counts.links_encrypted,
        links_unknown: counts.links_unknown,
        worst: findings.iter().rev().find(|row| row.fail > 0).map(|row| row.severity),
        findings,
        not_after_unix: counts.not_after_unix,
        not_looked_at: meta.not_looked_at.clone(),
        error: meta.error.clone(),
        unknown_lasting: lasting(meta, now_unix_ms),
        servers_drifted: counts.servers_drifted,
        servers_drift_unknown: counts.servers_drift_unknown,
        at_rest_fell_back: counts.at_rest_fell_back,
        at_rest_unknown: counts.at_rest_unknown,
    }
}

/// How many servers and links nobody has known anything of for longer than [`UNKNOWN_LASTS_S`]; looks that fail count as one.
fn lasting(meta: &Meta, now_unix_ms: u64) -> u32 {
    let is_lasting = |at: &&u64| now_unix_ms.saturating_sub(**at) / 1000 >= UNKNOWN_LASTS_S;
    u32::try_from(meta.unknown_since.values().filter(is_lasting).count()).unwrap_or(u32::MAX)
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
        settings: Vec::new(),
        drift: Vec::new(),
        at_rest: Vec::new(),
        findings: Vec::new(),
        changes: history.iter().map(change).collect(),
    };
    for entry in state.entries.values() {
        put(&mut report, state, entry);
    }
    report.findings.sort_by(worst_first);
    report
}

fn worst_first(a: &WatchFindingRow, b: &WatchFindingRow) -> Ordering {
    b.severity.cmp(&a.severity).then(a.verdict.cmp(&b.verdict)).then(a.rule.cmp(&b.rule))
}

/// What of a cluster is about one of its servers; `None`: it has no such server.
pub fn server(cluster: &WatchReport, name: &str) -> Option<WatchServerReport> {
    let server = cluster.servers.iter().find(|row| row.server == name)?.clone();
    let kept = |row: &WatchChangeRow| match &*row.family {
        "finding" => row.subject.split_once(' ').is_some_and(|(_, subject)| is_about(subject, name)),
        _ => is_about(&row.subject, name),
    };
    Some(WatchServerReport {
        schema: WATCH_SERVER_SCHEMA_ID.into(),
        sealion_version: cluster.sealion_version.clone(),
        at_unix_ms: cluster.at_unix_ms,
        summary: cluster.summary.clone(),
        server,
        links: cluster.links.iter().filter(|row| row.from == name || row.to == name).cloned().collect(),
        certificates: cluster.certificates.iter().filter(|row| row.server == name).cloned().collect(),
        settings: cluster.settings.iter().filter(|row| row.server == name).cloned().collect(),
        drift: cluster.drift.iter().filter(|row| row.server == name).cloned().collect(),
        at_rest: cluster.at_rest.iter().filter(|row| row.server == name).cloned().collect(),
        findings: cluster.findings.iter().filter(|row| is_about(&row.subject, name)).cloned().collect(),
        changes: cluster.changes.iter().filter(|row| kept(row)).take(CHANGES_MAX).cloned().collect(),
    })
}

fn put(report: &mut WatchReport, state: &State, entry: &Entry) {
    let (first_seen_unix_ms, last_seen_unix_ms) = (entry.first_seen_unix_ms, entry.last_seen_unix_ms);
    let unknown_since_unix_ms = state.meta.unknown_since.get(&unknown_key(&entry.body.key())).copied();
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
                unknown_since_unix_ms,
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
            unknown_since_unix_ms,
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
        Body::Setting { server, what, configured, effective, seen, unread } => {
            report.settings.push(WatchSettingRow {
                server,
                what,
                configured,
                effective,
                seen,
                is_current: unread.is_none(),
                why: unread.unwrap_or_default(),
                first_seen_unix_ms,
                last_seen_unix_ms,
            });
        }
        Body::Drift { server, state, change, why } => report.drift.push(WatchDriftRow {
            server,
            state: match state {
                DriftState::Same => WatchDriftWord::Same,
                DriftState::Drifted => WatchDriftWord::Drifted,
                DriftState::Unknown => WatchDriftWord::Unknown,
            },
            change,
            why,
            first_seen_unix_ms,
            last_seen_unix_ms,
        }),
        Body::AtRest { server, what, counts, unread, fell_back_unix_ms } => {
            report.at_rest.push(WatchRestRow {
                server,
                what,
                state: match entry.body.rest_state() {
                    RestState::Encrypted => WatchRestWord::Encrypted,
                    RestState::Plain => WatchRestWord::Plain,
                    RestState::Mixed => WatchRestWord::Mixed,
                    RestState::Unknown => WatchRestWord::Unknown,
                },
                encrypted: counts.encrypted,
                plain: counts.plain,
                unknown: counts.unknown,
                fell_back_unix_ms,
                is_current: unread.is_none(),
                why: unread.unwrap_or_default(),
                first_seen_unix_ms,
                last_seen_unix_ms,
            });
        }
        body @ Body::Finding { .. } => {
            report.findings.extend(finding(body, first_seen_unix_ms, last_seen_unix_ms));
        }
    }
}

/// `None`: there is nothing to say of it.
fn finding(body: Body, first_seen_unix_ms: u64, last_seen_unix_ms: u64) -> Option<WatchFindingRow> {
    let Body::Finding { rule, subject, title, severity, remedy, state, why } = body else { return None };
    let verdict = match state {
        FindingState::Pass => return None,
        FindingState::Fail => VerdictWord::Fail,
        FindingState::Unknown => VerdictWord::Unknown,
    };
    let severity = severity.into();
    Some(WatchFindingRow {
        rule,
        title,
        severity,
        subject,
        verdict,
        why,
        remedy,
        first_seen_unix_ms,
        last_seen_unix_ms,
    })
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
    read_with_history(store, name, CHANGES_MAX, now_unix_ms)
}

fn read_with_history(
    store: &Store,
    name: &str,
    changes_max: usize,
    now_unix_ms: u64,
) -> Result<Option<WatchReport>, StoreError> {
    let Some(state) = keep::read(store, name)? else { return Ok(None) };
    let history = store.watch_history(name, u32::try_from(changes_max).unwrap_or(u32::MAX))?;
    Ok(Some(cluster(name, &state, &history, now_unix_ms)))
}

/// What is kept of one server; `None`: it is not watched.
///
/// # Errors
/// The store cannot be read.
pub fn read_server(
    store: &Store,
    cluster: &str,
    name: &str,
    now_unix_ms: u64,
) -> Result<Option<WatchServerReport>, StoreError> {
    let report = read_with_history(store, cluster, CHANGES_SEARCHED_MAX, now_unix_ms)?;
    Ok(report.and_then(|report| server(&report, name)))
}

/// The present rows of one family, of all clusters. What this version does not understand is left out, as in [`keep::state_of`].
fn entries_of(store: &Store, family: &str, states: &[&str]) -> Result<Vec<(String, Entry)>, StoreError> {
    let rows = store.watch_family(family, states)?;
    let of = |(cluster, row): (String, WatchRow)| {
        let body: Body = serde_json::from_str(&row.body).ok()?;
        let (first_seen_unix_ms, last_seen_unix_ms) = (row.first_seen_unix_ms, row.last_seen_unix_ms);
        Some((cluster, Entry { body, first_seen_unix_ms, last_seen_unix_ms }))
    };
    Ok(rows.into_iter().filter_map(of).collect())
}

/// Of each cluster, whether what is kept of it is older than two intervals. One that nobody has is.
fn stale(store: &Store, now_unix_ms: u64) -> Result<impl Fn(&str) -> bool, StoreError> {
    let metas = store.watch_bodies()?.into_iter().map(|(name, body)| {
        let meta: Meta = serde_json::from_str(&body).unwrap_or_default();
        (name, is_stale(&meta, now_unix_ms))
    });
    let stale: BTreeMap<String, bool> = metas.collect();
    Ok(move |cluster: &str| stale.get(cluster).copied().unwrap_or(true))
}

/// The certificates of all clusters, by their ends; those of which none was ever read are the last.
///
/// # Errors
/// The store cannot be read.
pub fn read_certificates(store: &Store, now_unix_ms: u64) -> Result<WatchCertificatesReport, StoreError> {
    let mut states: BTreeMap<String, State> = BTreeMap::new();
    for (cluster, entry) in entries_of(store, "certificate", &[])? {
        states.entry(cluster).or_default().entries.insert(entry.body.key(), entry);
    }
    let is_stale = stale(store, now_unix_ms)?;
    let mut certificates = Vec::new();
    for (cluster, state) in states {
        let rows = self::cluster(&cluster, &state, &[], now_unix_ms).certificates;
        certificates.extend(rows.into_iter().map(|row| OfCluster {
            is_stale: is_stale(&cluster),
            cluster: cluster.clone(),
            row,
        }));
    }
    certificates.sort_by_key(|one| one.row.not_after_unix.unwrap_or(i64::MAX));
    Ok(WatchCertificatesReport {
        schema: WATCH_CERTIFICATES_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        at_unix_ms: now_unix_ms,
        certificates,
    })
}

/// What failed or is unknown, of all clusters, the worst first.
///
/// # Errors
/// The store cannot be read.
pub fn read_findings(store: &Store, now_unix_ms: u64) -> Result<WatchFindingsReport, StoreError> {
    let is_stale = stale(store, now_unix_ms)?;
    let judged = [FindingState::Fail.as_str(), FindingState::Unknown.as_str()];
    let rows = entries_of(store, "finding", &judged)?.into_iter().filter_map(|(cluster, entry)| {
        finding(entry.body, entry.first_seen_unix_ms, entry.last_seen_unix_ms).map(|row| OfCluster {
            is_stale: is_stale(&cluster),
            cluster,
            row,
        })
    });
    let mut findings: Vec<_> = rows.collect();
    findings.sort_by(|a, b| {
        worst_first(&a.row, &b.row)
            .then_with(|| a.cluster.cmp(&b.cluster))
            .then_with(|| a.row.subject.cmp(&b.row.subject))
    });
    Ok(WatchFindingsReport {
        schema: WATCH_FINDINGS_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        at_unix_ms: now_unix_ms,
        findings,
    })
}

/// What is kept of all of them.
///
/// # Errors
/// The store cannot be read.
pub fn read_fleet(store: &Store, now_unix_ms: u64) -> Result<FleetReport, StoreError> {
    let mut clusters = Vec::new();
    for (name, body) in store.watch_bodies()? {
        let meta: Meta = serde_json::from_str(&body).unwrap_or_default();
        if let Some(counts) = &meta.counts {
            clusters.push(summarized(&name, &meta, counts, now_unix_ms));
        } else {
            // Kept by a sealion that counted nothing.
            let state = keep::read(store, &name)?;
            clusters.extend(state.map(|state| summary(&name, &state, now_unix_ms)));
        }
    }
    Ok(FleetReport {
        schema: FLEET_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        at_unix_ms: now_unix_ms,
        clusters,
    })
}

//! Runs that were kept: what a command saw and did, in the store beside the cluster's journals.
//!
//! The store is derived. A command that cannot write it says so and is not worse for it.

use change::journal::outcome;
use model::{Clock, Phase, Run, SystemClock};
use report::shape::WatchClientsReport;
use store::{RunSummary, Store};

use crate::journals::{self, ChangeJournal};
use crate::roll::Finished;
use site::OpsError;
use site::inventory::Cluster;
use site::runs::{path, run_id};
use status_ops::status::Status;

/// `None`: kept, or there is no place for it (a server named on the command line). A text: why it was not kept.
fn keep(cluster: &Cluster, command: &str, started_unix_ms: u64, phase: Phase) -> Option<String> {
    if cluster.state_dir.as_os_str().is_empty() {
        return None;
    }
    let ended_unix_ms = SystemClock.unix_ms();
    let run = Run {
        id: run_id(started_unix_ms),
        command: command.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms,
        phases: vec![Phase { started_unix_ms, ended_unix_ms, ..phase }],
    };
    let kept = Store::open(path(cluster)).and_then(|mut store| store.put_run(&run));
    kept.err().map(|error| error.to_string())
}

pub fn keep_status(cluster: &Cluster, started_unix_ms: u64, status: &Status) -> Option<String> {
    let phase = Phase {
        name: "status".into(),
        observations: status.observations.clone(),
        findings: status.findings.clone(),
        sights: status.sights.clone(),
        notes: status.not_looked_at.iter().map(|line| format!("not looked at: {line}")).collect(),
        ..Phase::default()
    };
    keep(cluster, "status", started_unix_ms, phase)
}

const WATCH_CLIENTS: &str = "watch-clients";

/// As [`keep_status`].
pub fn keep_clients(cluster: &Cluster, report: &WatchClientsReport) -> Option<String> {
    if cluster.state_dir.as_os_str().is_empty() {
        return None;
    }
    let run = Run {
        id: run_id(report.started_unix_ms),
        command: WATCH_CLIENTS.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms: report.started_unix_ms,
        ended_unix_ms: report.ended_unix_ms,
        phases: vec![],
    };
    let kept = serde_json::to_string(report).map_err(|error| error.to_string()).and_then(|json| {
        let mut store = Store::open(path(cluster)).map_err(|error| error.to_string())?;
        store.put_with_report(&run, WATCH_CLIENTS, &json).map_err(|error| error.to_string())
    });
    kept.err()
}

/// What earlier runs of `watch-clients` found, but for `own`, the newest first; and how many of them cannot be read.
///
/// # Errors
/// The store cannot be read.
pub fn clients(
    cluster: &Cluster,
    own: &WatchClientsReport,
) -> Result<(Vec<WatchClientsReport>, usize), OpsError> {
    if cluster.state_dir.as_os_str().is_empty() {
        return Err(OpsError::usage(
            "earlier runs are not known",
            "only those of a cluster with an inventory are kept",
            "leave out --since, or draft an inventory: sealion config inventory -h HOST",
        ));
    }
    let failed = |error: &dyn std::fmt::Display| OpsError::internal("cannot read earlier runs", error);
    let rows = Store::open(path(cluster))
        .and_then(|store| store.reports(&[WATCH_CLIENTS], RUNS_MAX))
        .map_err(|error| failed(&error))?;
    let (mut all, mut damaged) = (Vec::new(), 0);
    for (_, _, json) in rows {
        let Ok(one) = serde_json::from_str::<WatchClientsReport>(&json) else {
            damaged += 1;
            continue;
        };
        if one.cluster == own.cluster && one.started_unix_ms != own.started_unix_ms {
            all.push(one);
        }
    }
    Ok((all, damaged))
}

/// More than a year of hourly runs.
const RUNS_MAX: u32 = 10_000;

pub fn keep_change(
    cluster: &Cluster,
    command: &str,
    started_unix_ms: u64,
    finished: &Finished,
) -> Option<String> {
    let phase = Phase {
        name: finished.plan_id.clone(),
        notes: finished.notes.iter().map(|(step, note)| format!("{step}: {note}")).collect(),
        ..Phase::default()
    };
    keep(cluster, command, started_unix_ms, phase)
}

/// A change that this machine knows of, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRecord {
    pub plan_id: String,
    pub change: String,
    pub begun_unix_ms: u64,
    pub last_unix_ms: u64,
    /// `complete`, `reverted`, `abandoned`, `not finished`; in the last case with the step.
    pub outcome: String,
}

/// All changes of which this machine has a journal, the newest first: also those that failed or were interrupted.
///
/// # Errors
/// A journal cannot be read.
pub fn changes(cluster: &Cluster, limit: u32) -> Result<Vec<ChangeRecord>, OpsError> {
    if cluster.state_dir.as_os_str().is_empty() {
        return Ok(vec![]);
    }
    let of = |journal: &ChangeJournal| ChangeRecord {
        plan_id: journal.plan.id.clone(),
        change: journal.plan.change.to_string(),
        begun_unix_ms: journal.records.first().map_or(0, |(at, _)| *at),
        last_unix_ms: journal.records.last().map_or(0, |(at, _)| *at),
        outcome: outcome(&journal.records),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(journals::own(cluster)?.iter().rev().take(limit).map(of).collect())
}

/// The newest runs first.
pub fn runs(cluster: &Cluster, limit: u32) -> Result<Vec<RunSummary>, OpsError> {
    let path = path(cluster);
    if !path.exists() {
        return Ok(vec![]);
    }
    Store::open(&path).and_then(|store| store.runs(limit)).map_err(|error| {
        OpsError::cannot_look(
            format!("{} cannot be read", path.display()),
            error,
            "sealion status looks anew",
        )
    })
}

/// One run with all it saw, as JSON.
pub fn export(cluster: &Cluster, id: &str) -> Result<String, OpsError> {
    Store::open(path(cluster)).and_then(|store| store.export_json(id)).map_err(|error| {
        OpsError::usage(
            format!("the run \"{id}\" cannot be shown"),
            error.to_string(),
            "sealion report     lists the runs",
        )
    })
}

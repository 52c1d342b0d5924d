//! Runs that were kept: what a command saw and did, in the store beside the cluster's journals.
//!
//! The store is derived. A command that cannot write it says so and is not worse for it.

use model::{Clock, Phase, Run, SystemClock};
use store::{RunSummary, Store};

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

//! `sealion prove disk`: canaries through every artefact of a running server, then every file that it has written since
//! is searched for them.
//!
//! [`artefacts`] is the list, [`judge`] what follows from what was seen. [`run`] writes, holds statements open where files
//! live no longer than these, and searches; whatever it made is removed, also when it is stopped.

mod artefacts;
mod canary;
mod held;
mod judge;
mod run;
mod server;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use disk::{Family, Progress};
use report::shape::{PROVE_DISK_SCHEMA_ID, ProveDiskReport};
use site::{Cluster, OpsError};
use status_ops::{rest, sniff};

use run::Run;

/// How much is written, and how long is waited.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Into temporary tables: more than the buffer pool, where their pages are to reach a disk.
    pub fill_mb: u32,
    /// For a checkpoint that passes what was written.
    pub wait: Duration,
}

/// In no way proven here, whatever the server.
const NOTES: &[&str] = &[
    "only files that were written since the start were searched, for plain bytes: what is compressed or in another character set is not found",
    "canaries stay in freed pages, old logs and freed blocks of the file system until they are overwritten",
    "memory, swap and core dumps: sealion status rest",
];

/// Writes canaries to the only server of `cluster`, searches its files, and removes what it made. `tell` is given what it is
/// at.
///
/// # Errors
/// The server does not answer, its files are not on this machine or not readable, or the schema of the canaries is
/// somebody else's. A statement that is refused is said in its row.
pub fn prove(
    cluster: &Cluster,
    settings: Settings,
    stop: &AtomicBool,
    tell: &dyn Fn(&str),
    progress: &Progress,
) -> Result<ProveDiskReport, OpsError> {
    let files = rest::server_files(cluster)?;
    let mut control = server::connect(cluster)?;
    let is_written = sniff::may_write(&mut control);
    if is_written {
        sniff::prepare(&mut control).map_err(|why| {
            OpsError::cannot_look("canaries cannot be written", why, "choose another user, or another server")
        })?;
    }
    let mut run = Run::new(cluster, files, control, settings, stop, tell);
    let rows = run.all(is_written, progress);
    let (family, version, root) = (run.family, run.files.answers.version.clone(), run.files.root.clone());
    // Sessions hold locks on tables.
    drop(run);
    let left_behind = if is_written { sniff::remove_canaries(cluster) } else { Vec::new() };
    Ok(ProveDiskReport {
        schema: PROVE_DISK_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        server_version: version,
        family: match family {
            Family::MariaDb => "mariadb",
            Family::MySql => "mysql",
        }
        .into(),
        datadir: root.display().to_string(),
        is_written,
        is_complete: !stop.load(Ordering::Relaxed),
        artefacts: rows?,
        left_behind,
        notes: NOTES.iter().map(|note| (*note).to_owned()).collect(),
    })
}

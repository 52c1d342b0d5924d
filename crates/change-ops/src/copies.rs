//! Journals as the nodes keep them: with them a change goes on from any workstation that knows the inventory.

use std::fs;
use std::path::{Path, PathBuf};

use change::journal::{JOURNAL_BYTES_MAX, Parsed, parse};
use change::{Direction, Journal, Record};
use host::{Local, ReadHost, WriteHost};
use model::{Clock, NodeName, SystemClock};

use crate::roll::journal_dir;
use site::OpsError;
use site::inventory::Cluster;

/// A journal on a node that tells more than this machine's.
#[derive(Debug)]
pub struct Copy {
    node: NodeName,
    from: PathBuf,
    /// Where it belongs on this machine.
    to: PathBuf,
    bytes: Vec<u8>,
    parsed: Parsed,
}

impl Copy {
    pub fn is_open(&self) -> bool {
        !self.parsed.records.last().is_some_and(|(_, record)| record.is_last())
    }

    /// Whether its change was brought to its end, and not taken back.
    pub fn went_forward(&self) -> bool {
        matches!(self.parsed.records.last(), Some((_, Record::Closed { direction: Direction::Forward })))
    }

    /// Whether it tells how a change ended that this machine's journal has as open.
    pub fn closes(&self, journal: &Path) -> bool {
        self.to == journal && !self.is_open()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn describe(&self) -> String {
        let last_unix_ms = self.parsed.records.last().map_or(0, |(at, _)| *at);
        format!(
            "{} on {} has {} records, the last {} s ago",
            self.from.display(),
            self.node,
            self.parsed.records.len(),
            SystemClock.unix_ms().saturating_sub(last_unix_ms) / 1000
        )
    }

    pub fn take_over(&self) -> Result<(), OpsError> {
        if let Some(dir) = self.to.parent() {
            fs::create_dir_all(dir)
                .map_err(|error| OpsError::internal(format!("cannot make {}", dir.display()), error))?;
        }
        // Nobody may be at work on the shorter one while it is replaced.
        drop(Journal::open(&self.to)?);
        let whole = self.bytes.len() - usize::try_from(self.parsed.torn_bytes).unwrap_or(usize::MAX);
        trust::file::write_atomically(&self.to, self.bytes.get(..whole).unwrap_or_default(), 0o600, None)
            .map_err(|error| OpsError::internal(format!("cannot write {}", self.to.display()), error))
    }
}

/// Journals of which a node has more than this machine: each once, the longest. A copy in which no step was begun
/// tells of nothing that could go on; one that does not begin as ours does is left alone.
///
/// # Errors
/// `Journal` when this machine's own journal is damaged.
pub fn newer(cluster: &Cluster) -> Result<Vec<Copy>, OpsError> {
    let mut found: Vec<Copy> = Vec::new();
    for node in &cluster.nodes {
        for from in Local.list(&node.state_dir).unwrap_or_default() {
            if from.extension().is_none_or(|end| end != "journal") {
                continue;
            }
            let Some(copy) = read(cluster, &node.name, from)? else { continue };
            match found.iter_mut().find(|other| other.to == copy.to) {
                Some(other) if other.parsed.records.len() < copy.parsed.records.len() => *other = copy,
                Some(_) => {}
                None => found.push(copy),
            }
        }
    }
    found.sort_by(|one, other| one.to.cmp(&other.to));
    Ok(found)
}

fn read(cluster: &Cluster, node: &NodeName, from: PathBuf) -> Result<Option<Copy>, OpsError> {
    let Some(name) = from.file_name() else { return Ok(None) };
    let to = journal_dir(cluster).join(name);
    // A node that was down while lines were copied has a copy with a hole: another node has the whole.
    let Ok(Some(bytes)) = Local.read(&from, JOURNAL_BYTES_MAX) else { return Ok(None) };
    let Ok(parsed) = parse(&bytes, &from) else { return Ok(None) };
    let is_of_cluster =
        matches!(parsed.records.first(), Some((_, Record::Opened { plan })) if plan.cluster == cluster.name);
    let was_begun = parsed.records.iter().any(|(_, record)| matches!(record, Record::Intent { .. }));
    if !is_of_cluster || !was_begun {
        return Ok(None);
    }
    let own = Local.read(&to, JOURNAL_BYTES_MAX).ok().flatten().unwrap_or_default();
    let own = parse(&own, &to)?;
    let common = own.records.iter().zip(&parsed.records).take_while(|(one, other)| one == other).count();
    // A sealion that lost its lease may have noted last that it failed: that is no history of its own.
    let is_beginning =
        own.records.iter().skip(common).all(|(_, record)| matches!(record, Record::Failed { .. }));
    let goes_on = own.records.len() < parsed.records.len() && is_beginning;
    Ok(goes_on.then_some(Copy { node: node.clone(), from, to, bytes, parsed }))
}

/// Journals on nodes that are there and cannot be used, each with its reason.
pub fn damaged(cluster: &Cluster) -> Vec<String> {
    let mut found = Vec::new();
    for node in &cluster.nodes {
        for path in Local.list(&node.state_dir).unwrap_or_default() {
            if path.extension().is_none_or(|end| end != "journal") {
                continue;
            }
            let why = match Local.read(&path, JOURNAL_BYTES_MAX) {
                Ok(Some(bytes)) => parse(&bytes, &path).err().map(|error| error.to_string()),
                Ok(None) => None,
                Err(error) => Some(error.to_string()),
            };
            if let Some(why) = why {
                found.push(format!("{} ({})", path.display(), why.lines().next().unwrap_or_default()));
            }
        }
    }
    found
}

/// Removes the copies of a journal of which nothing was begun.
pub fn forget(cluster: &Cluster, journal: &Path) {
    let Some(name) = journal.file_name() else { return };
    for node in &cluster.nodes {
        // What cannot be removed tells of no step, so nobody goes on with it.
        let _ = Local.remove(&node.state_dir.join(name));
    }
}

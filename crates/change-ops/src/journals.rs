//! The journals of this machine, in the order in which their changes were begun.
//!
//! The order is a number that each change takes when it begins, higher than all that were seen here and on the nodes: clocks of
//! two operators, and of one that was set back, say nothing about what came first. Journals of before that number have none;
//! they are older than all that have one, and among themselves their times decide.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use change::journal::{JournalError, parse};
use change::{Direction, Record};
use model::{Plan, StepId};
use site::OpsError;

use crate::access::ClusterAccess;

/// One change, as a journal tells it.
#[derive(Debug)]
pub struct ChangeJournal {
    pub path: PathBuf,
    pub plan: Plan,
    pub records: Vec<(u64, Record)>,
    /// Without a last line that was cut short.
    pub whole_bytes: usize,
}

impl ChangeJournal {
    /// `None`: nothing was begun to be written.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Option<Self>, JournalError> {
        let parsed = parse(bytes, path)?;
        let whole_bytes =
            bytes.len().saturating_sub(usize::try_from(parsed.torn_bytes).unwrap_or(usize::MAX));
        let records = parsed.records;
        let plan = records.iter().find_map(|(_, record)| match record {
            Record::Opened { plan } => Some((**plan).clone()),
            _ => None,
        });
        Ok(plan.map(|plan| Self { path: path.to_owned(), plan, records, whole_bytes }))
    }

    fn last(&self) -> Option<&Record> {
        self.records.last().map(|(_, record)| record)
    }

    pub fn is_open(&self) -> bool {
        !self.last().is_some_and(Record::is_last)
    }

    /// Whether it was brought to its end, and not taken back.
    pub fn went_forward(&self) -> bool {
        matches!(self.last(), Some(Record::Closed { direction: Direction::Forward }))
    }

    /// Taken back or given up: nothing of it can be undone.
    pub fn is_over(&self) -> bool {
        matches!(self.last(), Some(Record::Closed { direction: Direction::Back } | Record::Abandoned { .. }))
    }

    /// Whether an action of it may have run.
    pub fn was_begun(&self) -> bool {
        self.records.iter().any(|(_, record)| matches!(record, Record::Intent { .. }))
    }

    pub fn has_begun(&self, id: &StepId) -> bool {
        self.records.iter().any(|(_, record)| matches!(record, Record::Intent { step, .. } if step == id))
    }

    /// It was done once, forward.
    pub fn has_done(&self, id: &StepId) -> bool {
        let is_it = |record: &Record| matches!(record, Record::Done { step, direction: Direction::Forward, .. } if step == id);
        self.records.iter().any(|(_, record)| is_it(record))
    }

    /// Compares as the changes followed each other.
    pub fn order(&self) -> (u64, &str) {
        (self.plan.sequence, &self.plan.id)
    }
}

pub fn journal_dir(access: &dyn ClusterAccess) -> PathBuf {
    access.state_dir().join("journals").join(access.cluster_name())
}

/// What a file holds; nothing where there is none.
pub fn read(path: &Path) -> Result<Vec<u8>, OpsError> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        Err(error) => Err(OpsError::internal(format!("cannot read {}", path.display()), error)),
    }
}

/// All of this machine, oldest first.
///
/// # Errors
/// One cannot be read, or is damaged: then nobody can tell what is open.
pub fn own(access: &dyn ClusterAccess) -> Result<Vec<ChangeJournal>, OpsError> {
    let dir = journal_dir(access);
    let failed = |error| OpsError::internal(format!("cannot list {}", dir.display()), error);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "journal") {
            found.extend(ChangeJournal::parse(&read(&path)?, &path)?);
        }
    }
    found.sort_by(|one, other| one.order().cmp(&other.order()));
    Ok(found)
}

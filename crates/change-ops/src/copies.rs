//! Journals as the nodes keep them: with them a change goes on from any workstation that knows the inventory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use change::Journal;
use change::Record;
use change::journal::{JOURNAL_BYTES_MAX, parse};
use model::NodeName;
use server::WriteNode;
use site::OpsError;

use crate::access::ClusterAccess;
use crate::journals::{ChangeJournal, journal_dir, read};

/// A journal on a node that tells more than this machine's.
#[derive(Debug)]
pub struct Copy {
    node: NodeName,
    from: PathBuf,
    /// Where it belongs on this machine.
    to: PathBuf,
    /// Whole lines only.
    bytes: Vec<u8>,
    pub journal: ChangeJournal,
    /// This machine's ends in a record that nobody else knows of.
    sets_own_aside: bool,
}

/// What all nodes together know.
#[derive(Debug, Default)]
pub struct Copies {
    /// Each change once, in the order in which they were begun.
    pub newer: Vec<Copy>,
    /// The highest number of a change.
    pub sequence_max: u64,
    /// Copies that are there and cannot be used, with the reason.
    pub damaged: Vec<String>,
    /// Nodes whose copies cannot be looked at, with the reason: nobody can tell what they hold.
    pub not_seen: Vec<String>,
}

impl Copies {
    pub fn open(&self) -> Option<&Copy> {
        self.newer.iter().rev().find(|copy| copy.journal.is_open())
    }
}

impl Copy {
    /// Whether it tells how a change ended that this machine's journal has as open.
    pub fn closes(&self, journal: &Path) -> bool {
        self.to == journal && !self.journal.is_open()
    }

    pub fn describe(&self, now_unix_ms: u64) -> String {
        let last_unix_ms = self.journal.records.last().map_or(0, |(at, _)| *at);
        format!(
            "{} on {} has {} records, the last {} s ago",
            self.from.display(),
            self.node,
            self.journal.records.len(),
            now_unix_ms.saturating_sub(last_unix_ms) / 1000
        )
    }

    pub fn take_over(&self) -> Result<(), OpsError> {
        if let Some(dir) = self.to.parent() {
            fs::create_dir_all(dir)
                .map_err(|error| OpsError::internal(format!("cannot make {}", dir.display()), error))?;
        }
        // Nobody may be at work on the shorter one while it is replaced.
        drop(Journal::open(&self.to)?);
        let failed = |error| OpsError::internal(format!("cannot write {}", self.to.display()), error);
        if self.sets_own_aside {
            let mut names = (1_u32..).map(|n| self.to.with_extension(format!("set-aside-{n}")));
            let aside = names.find(|path| !path.exists()).expect("there is always a next number");
            trust::file::write_atomically(&aside, &read(&self.to)?, 0o600, None).map_err(failed)?;
        }
        trust::file::write_atomically(&self.to, &self.bytes, 0o600, None).map_err(failed)
    }
}

/// Journals of which a node has more than this machine: each once, the longest. A copy in which no step was begun
/// tells of nothing that could go on; one that does not begin as ours does is left alone.
///
/// # Errors
/// This machine's own journal cannot be read, or is damaged.
pub fn look(access: &dyn ClusterAccess) -> Result<Copies, OpsError> {
    let mut copies = Copies::default();
    // Most are the same as this machine's, or as another node's: each is read as a journal once.
    let mut own = BTreeMap::new();
    let mut looked_at: Vec<(OsString, Vec<u8>)> = Vec::new();
    for node in access.nodes() {
        let listed = match list(&*node) {
            Ok(listed) => listed,
            Err(why) => {
                copies.not_seen.push(format!("{}: {why}", node.name()));
                continue;
            }
        };
        for from in listed {
            let bytes = match node.host().read(&from, JOURNAL_BYTES_MAX) {
                Ok(bytes) => bytes.unwrap_or_default(),
                Err(error) => {
                    copies.not_seen.push(format!("{}: {error}", node.name()));
                    continue;
                }
            };
            let name = from.file_name().unwrap_or_default().to_owned();
            let same = |(other, seen): &(OsString, Vec<u8>)| *other == name && *seen == bytes;
            if looked_at.iter().any(same) {
                continue;
            }
            let parsed = ChangeJournal::parse(&bytes, &from);
            if parsed.is_ok() {
                looked_at.push((name, bytes.clone()));
            }
            match parsed {
                // A node that was down while lines were copied has a copy with a hole: another node has the whole.
                Err(error) => copies.damaged.push(format!(
                    "{} on {} ({})",
                    from.display(),
                    node.name(),
                    error.to_string().lines().next().unwrap_or_default()
                )),
                Ok(None) => {}
                Ok(Some(journal)) if journal.plan.cluster != access.cluster_name() => {}
                Ok(Some(journal)) => {
                    copies.sequence_max = copies.sequence_max.max(journal.plan.sequence);
                    copies.take_in(access, node.name(), from, bytes, journal, &mut own)?;
                }
            }
        }
    }
    copies.newer.sort_by(|one, other| one.journal.order().cmp(&other.journal.order()));
    Ok(copies)
}

impl Copies {
    fn take_in(
        &mut self,
        access: &dyn ClusterAccess,
        node: &NodeName,
        from: PathBuf,
        mut bytes: Vec<u8>,
        journal: ChangeJournal,
        own: &mut BTreeMap<PathBuf, Vec<(u64, Record)>>,
    ) -> Result<(), OpsError> {
        let Some(name) = from.file_name() else { return Ok(()) };
        let to = journal_dir(access).join(name);
        if !own.contains_key(&to) {
            own.insert(to.clone(), parse(&read(&to)?, &to)?.records);
        }
        let own = own.get(&to).map(Vec::as_slice).unwrap_or_default();
        if !journal.was_begun() {
            return Ok(());
        }
        let Some(sets_own_aside) = goes_on(own, &journal.records) else { return Ok(()) };
        bytes.truncate(journal.whole_bytes);
        let copy = Copy { node: node.clone(), from, to, bytes, journal, sets_own_aside };
        match self.newer.iter_mut().find(|other| other.to == copy.to) {
            Some(other) if other.journal.records.len() < copy.journal.records.len() => *other = copy,
            Some(_) => {}
            None => self.newer.push(copy),
        }
        Ok(())
    }
}

/// Whether a copy tells how this machine's journal went on; and then, whether the latter has an end of its own.
fn goes_on(own: &[(u64, Record)], copy: &[(u64, Record)]) -> Option<bool> {
    let common = own.iter().zip(copy).take_while(|(one, other)| one == other).count();
    if common == 0 && !own.is_empty() {
        return None;
    }
    let (own_end, copy_end) = (own.get(common..)?, copy.get(common..)?);
    // What no node was told of is no history of its own: steps that it announces were not begun (the last one), or are announced
    // in the copy too, and whoever took over has looked at them anew.
    let is_known = |record: &Record| match record {
        Record::Intent { step, .. } => {
            copy.iter().any(|(_, other)| matches!(other, Record::Intent { step: known, .. } if known == step))
        }
        _ => true,
    };
    let is_beginning =
        own_end.split_last().is_none_or(|(_, before)| before.iter().all(|(_, record)| is_known(record)));
    (!copy_end.is_empty() && is_beginning).then_some(!own_end.is_empty())
}

/// Journals in a node's own directory.
fn list(node: &dyn WriteNode) -> Result<Vec<PathBuf>, String> {
    let dir = &node.spec().state_dir;
    let host = node.host();
    if host.facts(dir).map_err(|error| error.to_string())?.is_none() {
        return Ok(vec![]);
    }
    let mut listed = host.list(dir).map_err(|error| error.to_string())?;
    listed.retain(|path| path.extension().is_some_and(|end| end == "journal"));
    Ok(listed)
}

/// Removes the copies of a journal of which nothing was begun.
pub fn forget(access: &dyn ClusterAccess, journal: &Path) {
    let Some(name) = journal.file_name() else { return };
    for node in access.nodes() {
        // What cannot be removed tells of no step, so nobody goes on with it.
        let _ = node.write_host().remove(&node.spec().state_dir.join(name));
    }
}

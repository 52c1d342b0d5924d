//! Journals of changes, beside the store: read, and nothing more.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use change::journal::{JOURNAL_BYTES_MAX, outcome, parse};
use change::{Direction, Record};
use model::Plan;
use serde::Serialize;

/// The newest, on a page.
const JOURNALS_MAX: usize = 500;

/// A change, as its journal tells it.
#[derive(Debug)]
pub struct Kept {
    pub plan: Plan,
    pub records: Vec<(u64, Record)>,
}

/// How far a step has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// `not begun`, `begun`, `done`, `failed`, `being taken back`, `taken back`.
    pub state: &'static str,
    pub at_unix_ms: Option<u64>,
    pub note: String,
}

impl Kept {
    pub fn begun_unix_ms(&self) -> u64 {
        self.records.first().map_or(0, |(at, _)| *at)
    }

    pub fn last_unix_ms(&self) -> u64 {
        self.records.last().map_or(0, |(at, _)| *at)
    }

    pub fn outcome(&self) -> String {
        outcome(&self.records)
    }

    /// By the ids of steps.
    pub fn progress(&self) -> BTreeMap<&str, Progress> {
        let mut steps = BTreeMap::new();
        for (at, record) in &self.records {
            let (step, state, note) = match record {
                Record::Intent { step, direction: Direction::Forward } => (step, "begun", ""),
                Record::Intent { step, direction: Direction::Back } => (step, "being taken back", ""),
                Record::Done { step, direction: Direction::Forward, note } => (step, "done", note.as_str()),
                Record::Done { step, direction: Direction::Back, note } => {
                    (step, "taken back", note.as_str())
                }
                Record::Failed { step, why, .. } => (step, "failed", why.as_str()),
                Record::Opened { .. }
                | Record::Progress { .. }
                | Record::Turned { .. }
                | Record::Closed { .. }
                | Record::Abandoned { .. } => continue,
            };
            let progress = Progress { state, at_unix_ms: Some(*at), note: note.to_owned() };
            steps.insert(step.0.as_str(), progress);
        }
        steps
    }
}

fn read(path: &Path) -> Result<Option<Kept>, String> {
    let failed = |error: &dyn std::fmt::Display| {
        let text = error.to_string();
        format!("{}: {}", path.display(), text.lines().next().unwrap_or_default())
    };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| failed(&error))?;
    file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    let records = parse(&bytes, path).map_err(|error| failed(&error))?.records;
    let plan = records.iter().find_map(|(_, record)| match record {
        Record::Opened { plan } => Some((**plan).clone()),
        _ => None,
    });
    // Without a plan nothing was begun to be written.
    Ok(plan.map(|plan| Kept { plan, records }))
}

/// Paths of the journals of all clusters, and what cannot be listed.
fn paths(dir: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let mut entries = |dir: &Path| -> Vec<PathBuf> {
        let mut here = Vec::new();
        let mut failed = |error: std::io::Error| unread.push(format!("{}: {error}", dir.display()));
        match fs::read_dir(dir) {
            Ok(entries) => {
                for entry in entries {
                    entry.map_or_else(&mut failed, |entry| here.push(entry.path()));
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => failed(error),
        }
        here
    };
    for cluster in entries(dir).iter().filter(|path| path.is_dir()) {
        let is_journal = |path: &PathBuf| path.extension().is_some_and(|end| end == "journal");
        found.extend(entries(cluster).into_iter().filter(is_journal));
    }
    (found, unread)
}

/// One change, by the name of its journal; `None`: there is none, or it cannot be read, which the list says.
pub fn one(dir: &Path, cluster: &str, id: &str) -> Option<Kept> {
    let (paths, _) = paths(dir);
    let named = paths.iter().filter(|path| path.file_stem().is_some_and(|stem| stem == id));
    let mut kept = named.filter_map(|path| read(path).ok().flatten());
    kept.find(|kept| kept.plan.cluster == cluster && kept.plan.id == id)
}

/// The changes of all clusters, the newest first, and what is not among them.
pub fn all(dir: &Path) -> (Vec<Kept>, Vec<String>) {
    let (mut paths, mut unread) = paths(dir);
    let mut kept = Vec::new();
    paths.sort_by_cached_key(|path| {
        let changed = path.metadata().and_then(|about| about.modified()).ok();
        std::cmp::Reverse((changed, path.clone()))
    });
    for path in paths.iter().take(JOURNALS_MAX) {
        match read(path) {
            Ok(one) => kept.extend(one),
            Err(why) => unread.push(why),
        }
    }
    if paths.len() > JOURNALS_MAX {
        unread.push(format!("{} older ones", paths.len() - JOURNALS_MAX));
    }
    kept.sort_by_key(|one| std::cmp::Reverse((one.plan.sequence, one.begun_unix_ms())));
    (kept, unread)
}

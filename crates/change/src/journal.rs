//! What is written before and after each step, one JSON object a line, each with the hash of the line before.
//!
//! A line that is cut short can only be the last one: the machine lost power or was killed while it was written. What
//! it would have announced was then not begun (a record is synced before its action starts), so it is dropped. A
//! line that is whole but does not fit its predecessor is not ours, and nothing is done on its word.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::{Plan, StepId};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use openssl::sha::sha256;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::machine::Direction;

/// A journal of a thousand nodes with a plan of ten thousand steps is some 20 MB; more is not a journal.
pub const JOURNAL_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Debug, Error)]
pub enum JournalError {
    #[error("{what} {}\n  why:  {source}\n  next: {next}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error, next: &'static str },
    #[error(
        "the journal {} is damaged at line {line}\n  why:  {why}\n  next: nothing was changed. The nodes keep copies of it: move this \
         file away, and sealion resume (or undo) continues from the longest copy",
        path.display()
    )]
    Damaged { path: PathBuf, line: usize, why: String },
    #[error(
        "the journal {} was written by a newer sealion\n  why:  line {line} holds a record that this one does not know ({why})\n  next: \
         use that version; nothing was changed",
        path.display()
    )]
    Newer { path: PathBuf, line: usize, why: String },
    #[error(
        "another sealion is at work on this cluster\n  why:  {holder}\n  next: wait for it, or end it and resume"
    )]
    Locked { holder: String },
}

/// One journalled fact. Steps are named by their place in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Opened {
        plan: Box<Plan>,
    },
    /// The step's action may have begun from here on.
    Intent {
        step: StepId,
        direction: Direction,
    },
    /// A part of its action is done. The mark is the step's own: with it the action goes on behind that part.
    Progress {
        step: StepId,
        direction: Direction,
        mark: String,
    },
    /// Its post-check was seen to hold.
    Done {
        step: StepId,
        direction: Direction,
        note: String,
    },
    Failed {
        step: StepId,
        direction: Direction,
        why: String,
    },
    /// From here on the wish is the old state.
    Turned {
        direction: Direction,
    },
    /// Nothing is left to do in the direction that was last wished.
    Closed {
        direction: Direction,
    },
    /// A person closed it as it was, with what was left how. Nobody goes on with it, and nobody takes it back.
    Abandoned {
        left: Vec<String>,
    },
}

impl Record {
    /// Nothing follows it.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Abandoned { .. })
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    n: u64,
    at_unix_ms: u64,
    prev: String,
    #[serde(flatten)]
    record: Record,
}

/// Held by whoever changes a cluster, for as long as he does. The kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct ClusterLock {
    _file: Flock<File>,
}

impl ClusterLock {
    /// # Errors
    /// `Locked` when another process has it.
    pub fn take(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join("cluster.lock");
        let fail = |what: &'static str| {
            let path = path.clone();
            move |source| JournalError::Io {
                what,
                path,
                source,
                next: "check owner, mode and free space of that directory, then run the same command again",
            }
        };
        make_private_dir(dir).map_err(fail("cannot make the directory of the journals"))?;
        // Not truncated before it is ours: it says who holds it.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(fail("cannot open the lock"))?;
        let mut file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
                Errno::EWOULDBLOCK => JournalError::Locked {
                    holder: fs::read_to_string(&path).map_or_else(
                        |_| "it holds the lock".into(),
                        |text| format!("held by {}", text.trim()),
                    ),
                },
                errno => fail("cannot lock")(errno.into()),
            })?;
        let _ =
            file.set_len(0).and_then(|()| file.write_all(format!("pid {}\n", std::process::id()).as_bytes()));
        Ok(Self { _file: file })
    }
}

/// The lines of one change, in memory and on disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Flock<File>,
    records: Vec<(u64, Record)>,
    last_hash: String,
    /// Bytes of a torn last line that were dropped when it was opened.
    pub torn_bytes: u64,
}

impl Journal {
    /// Opens or makes the journal and takes the advisory lock.
    ///
    /// # Errors
    /// `Locked` when another process holds it, `Damaged` when a whole line does not belong there.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let fail = |what: &'static str| {
            move |source| JournalError::Io {
                what,
                path: path.to_owned(),
                source,
                next: "check owner, mode and free space of that directory, then run the same command again",
            }
        };
        if let Some(parent) = path.parent() {
            make_private_dir(parent).map_err(fail("cannot make the directory of the journal"))?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fail("cannot open the journal"))?;
        // Older versions left them open to all: a plan shows lines of option files.
        file.set_permissions(Permissions::from_mode(0o600))
            .map_err(fail("cannot set the mode of the journal"))?;
        // flock(2) is released by the kernel when the process dies, however it dies.
        let mut file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
                Errno::EWOULDBLOCK => JournalError::Locked { holder: holder(path) },
                errno => fail("cannot lock the journal")(errno.into()),
            })?;
        let mut bytes = Vec::new();
        (&mut *file)
            .take(JOURNAL_BYTES_MAX)
            .read_to_end(&mut bytes)
            .map_err(fail("cannot read the journal"))?;
        let read = parse(&bytes, path)?;
        if read.torn_bytes > 0 {
            file.set_len(bytes.len() as u64 - read.torn_bytes)
                .map_err(fail("cannot cut the torn line of the journal"))?;
            file.sync_all().map_err(fail("cannot sync the journal"))?;
        }
        let mut lock = OpenOptions::new();
        let lock = lock.write(true).create(true).truncate(true).mode(0o600).open(path.with_extension("lock"));
        let _ = lock.and_then(|mut lock| lock.write_all(format!("pid {}\n", std::process::id()).as_bytes()));
        Ok(Self {
            path: path.to_owned(),
            file,
            records: read.records,
            last_hash: read.last_hash,
            torn_bytes: read.torn_bytes,
        })
    }

    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().map(|(_, record)| record)
    }

    /// With the time each was written at, milliseconds since 1970.
    pub fn timed_records(&self) -> &[(u64, Record)] {
        &self.records
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes and syncs one record; returns the line so that it can be copied to the nodes.
    pub fn append(&mut self, at_unix_ms: u64, record: Record) -> Result<String, JournalError> {
        let line = Line { n: self.records.len() as u64, at_unix_ms, prev: self.last_hash.clone(), record };
        let mut text = serde_json::to_string(&line).expect("a record has only plain fields");
        let hash = model::hex(&sha256(text.as_bytes()));
        text.push('\n');
        let fail = |source| JournalError::Io {
            what: "cannot write the journal",
            path: self.path.clone(),
            source,
            next: "make room or repair the disk, then sealion resume; the step that was announced was not begun",
        };
        let before = self.file.metadata().map_err(fail)?.len();
        if let Err(source) = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all()) {
            // A full disk leaves half a line: take it back so that the journal stays whole.
            let _ = self.file.set_len(before);
            return Err(fail(source));
        }
        self.last_hash = hash;
        self.records.push((at_unix_ms, line.record));
        Ok(text)
    }
}

/// For us only, also where it was made by an older version.
fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let seen = fs::metadata(dir)?;
    if seen.mode() & 0o077 != 0 {
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn holder(path: &Path) -> String {
    fs::read_to_string(path.with_extension("lock"))
        .map_or_else(|_| "it holds the lock of the journal".into(), |text| format!("held by {}", text.trim()))
}

#[derive(Debug)]
pub struct Parsed {
    pub records: Vec<(u64, Record)>,
    pub last_hash: String,
    pub torn_bytes: u64,
}

/// Reads the lines of a journal; pure, so that copies from nodes can be judged too.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Parsed, JournalError> {
    let damaged = |line: usize, why: String| JournalError::Damaged { path: path.to_owned(), line, why };
    let mut parsed = Parsed { records: Vec::new(), last_hash: String::new(), torn_bytes: 0 };
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            parsed.torn_bytes = rest.len() as u64;
            break;
        };
        let (text, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        let line: Line = match serde_json::from_slice(text) {
            Ok(line) => line,
            // Whole, and of the chain: somebody who knows more wrote it, and it is not ours to cut off.
            Err(error) if follows(text, &parsed) => {
                return Err(JournalError::Newer {
                    path: path.to_owned(),
                    line: number,
                    why: error.to_string(),
                });
            }
            // Some file systems leave zeros or half a block after a power cut: only ever in the last line.
            Err(_) if rest.is_empty() => {
                parsed.torn_bytes = text.len() as u64 + 1;
                break;
            }
            Err(error) => return Err(damaged(number, error.to_string())),
        };
        if line.prev != parsed.last_hash || line.n != parsed.records.len() as u64 {
            return Err(damaged(number, "its hash does not follow from the line before".into()));
        }
        parsed.last_hash = model::hex(&sha256(text));
        parsed.records.push((line.at_unix_ms, line.record));
    }
    Ok(parsed)
}

/// What became of a change, in words: `complete`, `reverted`, `abandoned`, or `not finished` with the step.
pub fn outcome(records: &[(u64, Record)]) -> String {
    match records.last().map(|(_, record)| record) {
        Some(Record::Closed { direction: Direction::Forward }) => "complete".into(),
        Some(Record::Closed { direction: Direction::Back }) => "reverted".into(),
        Some(Record::Abandoned { .. }) => "abandoned".into(),
        Some(Record::Failed { step, .. }) => format!("not finished: failed at step {step}"),
        _ => {
            let step = records.iter().rev().find_map(|(_, record)| match record {
                Record::Intent { step, .. } | Record::Done { step, .. } => Some(step),
                _ => None,
            });
            step.map_or_else(
                || "not finished: no step was begun".into(),
                |step| format!("not finished: last at step {step}"),
            )
        }
    }
}

/// Whether a line that is not understood is whole and continues the chain.
fn follows(text: &[u8], before: &Parsed) -> bool {
    let line: serde_json::Value = match serde_json::from_slice(text) {
        Ok(line) => line,
        Err(_) => return false,
    };
    line["prev"].as_str() == Some(&before.last_hash)
        && line["n"].as_u64() == Some(before.records.len() as u64)
        && line["record"].is_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_lines(dir: &Path) -> Vec<u8> {
        let path = dir.join("j");
        let mut journal = Journal::open(&path).expect("a fresh directory is writable");
        for n in 0..3 {
            let step = StepId(format!("E{n}"));
            journal.append(n, Record::Intent { step, direction: Direction::Forward }).expect("there is room");
        }
        drop(journal);
        fs::read(path).expect("it was just written")
    }

    #[test]
    fn a_journal_cut_at_any_byte_is_a_shorter_journal() {
        let dir = tempfile::tempdir().expect("tmp");
        let whole = three_lines(dir.path());
        for cut in 0..=whole.len() {
            let parsed = parse(&whole[..cut], Path::new("j")).expect("a torn tail is not damage");
            assert_eq!(parsed.records.len(), whole[..cut].iter().filter(|&&b| b == b'\n').count());
        }
    }

    #[test]
    fn a_changed_line_in_the_middle_is_damage_and_says_where() {
        let dir = tempfile::tempdir().expect("tmp");
        let mut whole = three_lines(dir.path());
        let at = whole.iter().position(|&b| b == b'E').expect("a step id");
        whole[at] = b'X';
        let error = parse(&whole, Path::new("j")).expect_err("the chain is broken");
        assert!(error.to_string().contains("damaged at line 2"), "{error}");
    }

    #[test]
    fn a_torn_line_is_cut_off_before_the_next_append() {
        let dir = tempfile::tempdir().expect("tmp");
        let whole = three_lines(dir.path());
        let path = dir.path().join("j");
        fs::write(&path, &whole[..whole.len() - 5]).expect("writable");
        let mut journal = Journal::open(&path).expect("a torn tail is not damage");
        assert!(journal.torn_bytes > 0);
        journal.append(9, Record::Closed { direction: Direction::Forward }).expect("there is room");
        drop(journal);
        let again = Journal::open(&path).expect("whole");
        assert_eq!((again.records().count(), again.torn_bytes), (3, 0));
    }

    #[test]
    fn a_record_of_a_newer_version_is_not_cut_off() {
        let dir = tempfile::tempdir().expect("tmp");
        let mut whole = three_lines(dir.path());
        let last = parse(&whole, Path::new("j")).expect("whole").last_hash;
        let line = format!(r#"{{"n":3,"at_unix_ms":9,"prev":"{last}","record":"rehearsed","step":"E9"}}"#);
        whole.extend_from_slice(format!("{line}\n").as_bytes());
        let path = dir.path().join("newer");
        fs::write(&path, &whole).expect("writable");
        let error = Journal::open(&path).expect_err("not known").to_string();
        assert!(error.contains("newer sealion") && error.contains("line 4"), "{error}");
        assert_eq!(fs::read(&path).expect("there"), whole);
    }

    #[test]
    fn others_cannot_read_a_journal_and_an_old_one_is_mended() {
        let dir = tempfile::tempdir().expect("tmp");
        let journals = dir.path().join("journals");
        fs::create_dir(&journals).expect("fresh");
        fs::set_permissions(&journals, Permissions::from_mode(0o755)).expect("ours");
        let path = journals.join("j.journal");
        fs::write(&path, b"").expect("writable");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("ours");
        drop(Journal::open(&path).expect("empty"));
        drop(ClusterLock::take(&journals).expect("free"));
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&journals), mode(&path)), (0o700, 0o600));
        assert_eq!(mode(&journals.join("cluster.lock")), 0o600);
        assert_eq!(mode(&path.with_extension("lock")), 0o600);
    }

    #[test]
    fn a_cluster_is_changed_by_one_at_a_time() {
        let dir = tempfile::tempdir().expect("tmp");
        let first = ClusterLock::take(dir.path()).expect("free");
        let second = ClusterLock::take(dir.path()).expect_err("held");
        assert!(second.to_string().contains(&format!("pid {}", std::process::id())), "{second}");
        drop(first);
        ClusterLock::take(dir.path()).expect("free again");
    }

    #[test]
    fn a_second_sealion_is_refused_and_told_who_holds_the_journal() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("j");
        let _first = Journal::open(&path).expect("free");
        let second = Journal::open(&path).expect_err("held");
        assert!(second.to_string().contains(&format!("pid {}", std::process::id())), "{second}");
    }
}

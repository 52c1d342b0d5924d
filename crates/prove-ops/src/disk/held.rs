//! Files that live no longer than a statement, or a transaction: looked at while it is open.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disk::Progress;
use disk::needle::{self, FileIdentity, Needle};
use report::shape::DiskProofFile;
use site::Cluster;

use super::judge::{Evidence, Reached};
use super::server;

/// A statement that has not come to its sleep by then has been given too much to do.
const HELD_AT_MOST: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);
/// Short: a sort file of an ALTER TABLE may live for some ms.
const POLL_OPEN_FILES: Duration = Duration::from_millis(1);

/// What was seen of files without a name.
#[derive(Debug, Default)]
pub struct Nameless {
    pub bytes: u64,
    pub times: u64,
    pub evenly_spread: u64,
    pub plain: u64,
    pub unread: u64,
    pub files: Vec<DiskProofFile>,
}

impl Nameless {
    /// `label`: what the files are called, since they have no name.
    pub fn of(files: &[File], needle: &Needle, label: &str) -> Self {
        let mut seen = Self::default();
        for file in files {
            let counted = needle::count(file, needle, &Progress::default());
            let (Ok(counts), Ok(tally), Ok(facts)) = (counted, needle::stretches(file), file.metadata())
            else {
                seen.unread += 1;
                continue;
            };
            let times: u64 = counts.values().sum();
            seen.bytes += facts.len();
            seen.times += times;
            seen.evenly_spread += tally.unknown;
            seen.plain += tally.plain;
            if times > 0 {
                seen.files.push(DiskProofFile { path: label.to_owned(), times });
            }
        }
        seen
    }

    /// `least`: so many bytes of such files tell that it did not stay in memory.
    pub fn evidence(&self, least: u64, what: &str, in_memory: &str) -> Evidence {
        let reached = if self.bytes >= least {
            Reached::Yes(format!("{what} without a name, {} KiB, appeared for it", self.bytes >> 10))
        } else {
            Reached::No(in_memory.to_owned())
        };
        Evidence {
            times: self.times,
            reached,
            encrypted: self.evenly_spread,
            plain: self.plain,
            unread: self.unread,
        }
    }
}

/// Runs `sql`, whose last part is a SLEEP, on a connection of its own, and looks while it sleeps; then it is killed. The
/// files without a name that it had open until then are handed to `look`: some are closed before it sleeps.
///
/// # Errors
/// It was refused, or did not come to its sleep.
pub fn while_it_sleeps<T>(
    cluster: &Cluster,
    control: &mut net::Client,
    pid: i32,
    sql: &str,
    stop: &AtomicBool,
    look: impl FnOnce(Vec<File>) -> T,
) -> Result<T, String> {
    let mut client = server::open(cluster)?;
    server::set(&mut client, server::SMALL_BUFFERS);
    let id = client.connection_id();
    let (mut known, mut files) = (BTreeSet::new(), Vec::new());
    drop(needle::open_nameless(pid, &mut known));
    std::thread::scope(|scope| {
        let statement = scope.spawn(move || server::run(&mut client, sql));
        let began = Instant::now();
        let arrived = loop {
            files.extend(needle::open_nameless(pid, &mut known));
            if statement.is_finished() {
                break Err("the statement ended before it could be looked at".to_owned());
            }
            match server::is_sleeping(control, id) {
                Ok(true) => break Ok(()),
                Err(why) => break Err(why),
                Ok(false) if stop.load(Ordering::Relaxed) => break Err("stopped".into()),
                Ok(false) if began.elapsed() > HELD_AT_MOST => {
                    break Err("the statement did not come to its end in time".into());
                }
                Ok(false) => std::thread::sleep(POLL),
            }
        };
        files.extend(needle::open_nameless(pid, &mut known));
        let seen = arrived.map(|()| look(files));
        // One that has ended is unknown to the server.
        let _ = control.execute(&format!("KILL {id}"));
        match (seen, statement.join()) {
            // What it was refused for, and not that it had ended.
            (Err(_), Ok(Err(why))) if !stop.load(Ordering::Relaxed) => Err(why),
            (seen, _) => seen,
        }
    })
}

/// Runs `sql` and opens every file without a name that the server opens meanwhile.
///
/// # Errors
/// It was refused.
pub fn files_of(
    client: &mut net::Client,
    pid: i32,
    sql: &str,
    known: &mut BTreeSet<FileIdentity>,
) -> Result<Vec<File>, String> {
    std::thread::scope(|scope| {
        let statement = scope.spawn(|| server::run(client, sql));
        let mut files = Vec::new();
        while !statement.is_finished() {
            files.extend(needle::open_nameless(pid, known));
            std::thread::sleep(POLL_OPEN_FILES);
        }
        match statement.join() {
            Ok(done) => done.map(|()| files),
            Err(_) => Err("the statement was given up".into()),
        }
    })
}

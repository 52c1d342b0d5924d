//! The queue of one machine: a file that any number of processes open. Whoever is killed leaves its leases, which expire.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, params};

use crate::turn::{Turn, share};
use crate::{Answer, DELIVERIES_MAX, Job, KEPT, Lease, Outcome, Queue, QueueError, Run, RunId, Zone};

/// Another process writes its batch; longer means that it hangs.
const BUSY_WAIT: Duration = Duration::from_secs(10);
/// Between two looks at a queue in which nothing waits.
const POLL: Duration = Duration::from_millis(20);
/// Jobs name hosts, answers say what is wrong with them.
const FILE_MODE: u32 = 0o600;
/// "slq1": a file of another program is not written to.
const APPLICATION_ID: i64 = 0x736c_7131;
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY, settings BLOB NOT NULL, lease_ms INTEGER NOT NULL, opened_unix_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL, zone TEXT NOT NULL, body BLOB NOT NULL,
    deliveries INTEGER NOT NULL DEFAULT 0, free_at_unix_ms INTEGER NOT NULL DEFAULT 0, UNIQUE (run, number)
);
CREATE INDEX IF NOT EXISTS job_turn ON job (zone, run, free_at_unix_ms);
CREATE TABLE IF NOT EXISTS answer (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL, zone TEXT NOT NULL, body BLOB,
    deliveries INTEGER NOT NULL, UNIQUE (run, number)
);";

#[derive(Debug)]
pub struct SqliteQueue {
    connection: Connection,
    path: PathBuf,
    /// Device and inode of the file; `None` in memory.
    file: Option<(u64, u64)>,
    /// Of the answers that were read.
    read_up_to: i64,
    turn: Turn,
}

impl SqliteQueue {
    /// Opens the file, or makes it (mode 0600).
    ///
    /// # Errors
    /// When the file system says no, or the file is another program's.
    pub fn open(path: &Path) -> Result<Self, QueueError> {
        let failed = |why: &dyn ToString| QueueError::of_file(path, why.to_string());
        // SQLite would make it with the umask's mode.
        let about = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(path)
            .and_then(|file| file.metadata())
            .map_err(|error| failed(&error))?;
        let mode = about.mode() & 0o777;
        if mode & 0o077 != 0 || about.uid() != own_uid().map_err(|error| failed(&error))? {
            return Err(failed(&format!(
                "others may read or write it (mode {mode:o}, user {}): it would tell them the targets, and take results from them",
                about.uid()
            )));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Absolute, for `:memory:` is not a file for SQLite.
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let connection = Connection::open_with_flags(absolute, flags).map_err(|error| failed(&error))?;
        Self::of(connection, path, Some((about.dev(), about.ino())))
    }

    /// One that ends with this process.
    ///
    /// # Errors
    /// When SQLite has no memory.
    pub fn in_memory() -> Result<Self, QueueError> {
        let path = Path::new("the queue in memory");
        let connection = Connection::open_in_memory().map_err(|error| QueueError::of_file(path, error))?;
        Self::of(connection, path, None)
    }

    fn of(connection: Connection, path: &Path, file: Option<(u64, u64)>) -> Result<Self, QueueError> {
        let failed = |error: rusqlite::Error| QueueError::of_file(path, error);
        connection.busy_timeout(BUSY_WAIT).map_err(failed)?;
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        let application: i64 =
            connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
        if tables > 0 && application != APPLICATION_ID {
            return Err(QueueError::of_file(path, "it is a database of another program"));
        }
        to_wal(&connection).map_err(failed)?;
        // A job goes in the transaction that keeps its answer: a power cut takes both back, or none.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        let mut queue =
            Self { connection, path: path.to_owned(), file, read_up_to: 0, turn: Turn::default() };
        queue.write(|transaction| {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)
        })?;
        Ok(queue)
    }

    fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, QueueError> {
        let run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = change(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|error: rusqlite::Error| QueueError::of_file(&self.path, error))
    }

    /// Who has opened a file that was removed since sees nothing of what others do, for ever.
    fn check_file(&self) -> Result<(), QueueError> {
        let Some(own) = self.file else { return Ok(()) };
        let found = self.path.metadata().map(|about| (about.dev(), about.ino()));
        let why = match found {
            Ok(found) if found == own => return Ok(()),
            Ok(_) => "another file has its name now".to_owned(),
            Err(error) => format!("it is gone: {error}"),
        };
        let next = "start it again: what was in the file that was removed is lost".into();
        Err(QueueError::Unreachable { place: self.path.display().to_string(), why, next })
    }

    /// Runs of which a job of the zone waits.
    fn runs(&self, zone: &Zone, now_unix_ms: i64) -> rusqlite::Result<Vec<RunId>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM run
             WHERE EXISTS (SELECT 1 FROM job WHERE zone = ?1 AND run = run.id AND free_at_unix_ms <= ?2)",
        )?;
        let rows = statement.query_map(params![zone.as_str(), now_unix_ms], |row| row.get(0).map(RunId))?;
        rows.collect()
    }

    fn take(&mut self, zone: &Zone, jobs_max: usize) -> Result<Vec<Lease>, QueueError> {
        let now = now_unix_ms();
        let runs = self.runs(zone, now).map_err(|error| QueueError::of_file(&self.path, error))?;
        // Whoever waits does not take the lock of whoever works.
        if runs.is_empty() {
            return Ok(vec![]);
        }
        let runs = self.turn.next(runs);
        let mut asked = None;
        let leases = self.write(|transaction| {
            let mut leases = Vec::new();
            for (number, run) in runs.iter().enumerate() {
                let most = share(jobs_max.saturating_sub(leases.len()), runs.len() - number);
                if most > 0 {
                    take_of(transaction, zone, run, now, most, &mut leases)?;
                    asked = Some(run);
                }
            }
            Ok(leases)
        })?;
        if let Some(run) = asked {
            self.turn.asked(run);
        }
        Ok(leases)
    }

    /// Changes when these are free again, where they are still this worker's.
    fn free_at(&mut self, leases: &[Lease], unix_ms: &str) -> Result<(), QueueError> {
        let now = now_unix_ms();
        self.write(|transaction| {
            let sql = format!(
                "UPDATE job SET free_at_unix_ms = {unix_ms}
                 WHERE place = ?2 AND deliveries = ?3"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            for lease in leases {
                if let Some((place, deliveries)) = lease.token.split_once('/') {
                    statement.execute(params![now, place, deliveries])?;
                }
            }
            Ok(())
        })
    }
}

/// Takes jobs of one run that wait. One that was handed out too often is dead, which is its answer.
fn take_of(
    transaction: &Transaction<'_>,
    zone: &Zone,
    run: &RunId,
    now_unix_ms: i64,
    jobs_max: usize,
    leases: &mut Vec<Lease>,
) -> rusqlite::Result<()> {
    let mut waiting = transaction.prepare_cached(
        "SELECT place, number, body, deliveries FROM job WHERE zone = ?1 AND run = ?2 AND free_at_unix_ms <= ?3
         ORDER BY free_at_unix_ms, place LIMIT ?4",
    )?;
    let mut hand_out = transaction.prepare_cached(
        "UPDATE job SET deliveries = ?2, free_at_unix_ms = ?3 + (SELECT lease_ms FROM run WHERE id = job.run)
         WHERE place = ?1",
    )?;
    let mut bury = transaction.prepare_cached(
        "INSERT OR IGNORE INTO answer (run, number, zone, body, deliveries) VALUES (?1, ?2, ?3, NULL, ?4)",
    )?;
    let mut remove = transaction.prepare_cached("DELETE FROM job WHERE place = ?1")?;
    let most = i64::try_from(jobs_max).unwrap_or(i64::MAX);
    let found: Vec<(i64, i64, Vec<u8>, u32)> = waiting
        .query_map(params![zone.as_str(), run.as_str(), now_unix_ms, most], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (place, number, body, before) in found {
        if before >= DELIVERIES_MAX {
            bury.execute(params![run.as_str(), number, zone.as_str(), before])?;
            remove.execute([place])?;
            continue;
        }
        let deliveries = before + 1;
        hand_out.execute(params![place, deliveries, now_unix_ms])?;
        let job =
            Job { run: run.clone(), zone: zone.clone(), number: number.unsigned_abs(), attempt: 0, body };
        // A later delivery is somebody else's.
        leases.push(Lease { job, deliveries, token: format!("{place}/{deliveries}") });
    }
    Ok(())
}

fn now_unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn whole_ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Of several processes that change the journal at once, SQLite makes one the first, and tells the others at once that it is busy: it lets
/// nobody wait who has read already (sqlite3_busy_handler).
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_WAIT;
    loop {
        let said = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match &said {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                thread::sleep(POLL);
            }
            _ => return said,
        }
    }
}

fn own_uid() -> std::io::Result<u32> {
    std::fs::metadata("/proc/self").map(|own| own.uid())
}

impl Queue for SqliteQueue {
    fn open_run(&mut self, run: &Run) -> Result<(), QueueError> {
        let now = now_unix_ms();
        self.write(|transaction| {
            // Of publishers that were killed.
            let old = now.saturating_sub(whole_ms(KEPT));
            for table in ["job", "answer"] {
                transaction.execute(
                    &format!(
                        "DELETE FROM {table} WHERE run IN (SELECT id FROM run WHERE opened_unix_ms < ?1)"
                    ),
                    params![old],
                )?;
            }
            transaction.execute("DELETE FROM run WHERE opened_unix_ms < ?1", params![old])?;
            transaction.execute(
                "INSERT OR REPLACE INTO run (id, settings, lease_ms, opened_unix_ms) VALUES (?1, ?2, ?3, ?4)",
                params![run.id.as_str(), run.settings, whole_ms(run.lease), now],
            )
        })?;
        Ok(())
    }

    fn publish(&mut self, jobs: &[Job]) -> Result<(), QueueError> {
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT OR IGNORE INTO job (run, number, zone, body) SELECT ?1, ?2, ?3, ?4
                 WHERE NOT EXISTS (SELECT 1 FROM answer WHERE run = ?1 AND number = ?2)",
            )?;
            for job in jobs {
                statement.execute(params![
                    job.run.as_str(),
                    signed(job.number),
                    job.zone.as_str(),
                    job.body
                ])?;
            }
            Ok(())
        })
    }

    fn answers(
        &mut self,
        run: &RunId,
        answers_max: usize,
        wait: Duration,
    ) -> Result<Vec<Answer>, QueueError> {
        let began = Instant::now();
        loop {
            self.check_file()?;
            let read = || {
                let mut statement = self.connection.prepare_cached(
                    "SELECT place, number, zone, body, deliveries FROM answer WHERE run = ?1 AND place > ?2
                     ORDER BY place LIMIT ?3",
                )?;
                let most = i64::try_from(answers_max).unwrap_or(i64::MAX);
                let rows = statement.query_map(params![run.as_str(), self.read_up_to, most], |row| {
                    let body: Option<Vec<u8>> = row.get(3)?;
                    let deliveries = row.get(4)?;
                    let answer = Answer {
                        zone: Zone(row.get(2)?),
                        number: row.get::<_, i64>(1)?.unsigned_abs(),
                        outcome: body.map_or(Outcome::Dead { deliveries }, Outcome::Done),
                    };
                    Ok((row.get::<_, i64>(0)?, answer))
                })?;
                rows.collect::<rusqlite::Result<Vec<_>>>()
            };
            let found = read().map_err(|error| QueueError::of_file(&self.path, error))?;
            if let Some((last, _)) = found.last() {
                self.read_up_to = *last;
                return Ok(found.into_iter().map(|(_, answer)| answer).collect());
            }
            if began.elapsed() >= wait {
                return Ok(vec![]);
            }
            thread::sleep(POLL);
        }
    }

    fn left(&mut self, run: &Run, zone: &Zone) -> Result<u64, QueueError> {
        self.connection
            .query_row(
                "SELECT count(*) FROM job WHERE zone = ?1 AND run = ?2",
                params![zone.as_str(), run.id.as_str()],
                |row| row.get::<_, i64>(0).map(i64::unsigned_abs),
            )
            .map_err(|error| QueueError::of_file(&self.path, error))
    }

    fn retract(&mut self, run: &Run, answer: &Answer) -> Result<(), QueueError> {
        let number = i64::try_from(answer.number).unwrap_or(i64::MAX);
        let last: i64 = self.write(|transaction| {
            let own = params![run.id.as_str(), number];
            transaction.execute("DELETE FROM answer WHERE run = ?1 AND number = ?2", own)?;
            transaction.query_row("SELECT coalesce(max(place), 0) FROM answer", [], |row| row.get(0))
        })?;
        // The next one may get the place of the one that went.
        self.read_up_to = self.read_up_to.min(last);
        Ok(())
    }

    fn close_run(&mut self, run: &Run) -> Result<(), QueueError> {
        self.write(|transaction| {
            for sql in [
                "DELETE FROM job WHERE run = ?1",
                "DELETE FROM answer WHERE run = ?1",
                "DELETE FROM run WHERE id = ?1",
            ] {
                transaction.execute(sql, params![run.id.as_str()])?;
            }
            Ok(())
        })
    }

    fn settings(&mut self, run: &RunId) -> Result<Option<Vec<u8>>, QueueError> {
        let found = self.connection.query_row(
            "SELECT settings FROM run WHERE id = ?1",
            params![run.as_str()],
            |row| row.get(0),
        );
        match found {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            found => found.map(Some).map_err(|error| QueueError::of_file(&self.path, error)),
        }
    }

    fn lease(&mut self, zone: &Zone, jobs_max: usize, wait: Duration) -> Result<Vec<Lease>, QueueError> {
        let began = Instant::now();
        loop {
            self.check_file()?;
            let leases = self.take(zone, jobs_max)?;
            if !leases.is_empty() || began.elapsed() >= wait {
                return Ok(leases);
            }
            thread::sleep(POLL);
        }
    }

    fn ack(&mut self, answers: Vec<(Lease, Vec<u8>)>) -> Result<(), QueueError> {
        self.write(|transaction| {
            // An answer is one, also of a lease that has expired. The run may be over.
            let mut keep = transaction.prepare_cached(
                "INSERT OR IGNORE INTO answer (run, number, zone, body, deliveries)
                 SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM run WHERE id = ?1)",
            )?;
            let mut remove = transaction.prepare_cached("DELETE FROM job WHERE run = ?1 AND number = ?2")?;
            for (lease, body) in answers {
                let (run, number) = (lease.job.run.as_str(), signed(lease.job.number));
                keep.execute(params![run, number, lease.job.zone.as_str(), body, lease.deliveries])?;
                remove.execute(params![run, number])?;
            }
            Ok(())
        })
    }

    fn nack(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        self.free_at(leases, "?1")
    }

    fn extend(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        self.free_at(leases, "?1 + (SELECT lease_ms FROM run WHERE run.id = job.run)")
    }

    fn discard(&mut self, leases: &[Lease]) -> Result<(), QueueError> {
        self.write(|transaction| {
            for lease in leases {
                transaction.execute(
                    "DELETE FROM job WHERE run = ?1 AND number = ?2",
                    params![lease.job.run.as_str(), signed(lease.job.number)],
                )?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn run() -> Run {
        let id = RunId::parse("r").expect("a name");
        Run { id, settings: vec![1], zones: vec![Zone::default()], lease: Duration::from_millis(50) }
    }

    fn job(number: u64) -> Job {
        Job { run: run().id, zone: Zone::default(), number, attempt: 0, body: vec![7] }
    }

    #[test]
    fn the_file_is_private_and_what_was_leased_by_a_process_that_is_gone_comes_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("q?.db");
        let mut queue = SqliteQueue::open(&path).expect("it is made");
        queue.open_run(&run()).expect("it is written");
        queue.publish(&[job(0), job(1)]).expect("it is written");
        // As after kill -9: nothing is said, nothing is given back.
        let mut gone = SqliteQueue::open(&path).expect("it opens");
        assert_eq!(gone.lease(&Zone::default(), 1, Duration::ZERO).expect("it reads").len(), 1);
        drop(gone);
        let mut other = SqliteQueue::open(&path).expect("it opens");
        let mut found = std::collections::BTreeMap::new();
        while found.len() < 2 {
            for lease in other.lease(&Zone::default(), 9, Duration::from_secs(1)).expect("it reads") {
                found.entry(lease.job.number).or_insert(lease.deliveries);
            }
        }
        assert_eq!(found.into_values().collect::<Vec<_>>(), [2, 1]);
        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
    }

    /// A worker and its publisher are started at once, by one line of a shell.
    #[test]
    fn a_file_that_is_made_by_several_at_once_opens_for_all() {
        let dir = tempfile::tempdir().expect("a directory");
        for number in 0..50 {
            let path = dir.path().join(format!("{number}.db"));
            let all: Vec<_> = (0..4)
                .map(|_| {
                    let path = path.clone();
                    thread::spawn(move || {
                        SqliteQueue::open(&path).map(drop).map_err(|error| error.to_string())
                    })
                })
                .collect();
            for one in all {
                assert_eq!(one.join().expect("nobody panicked"), Ok(()));
            }
        }
    }

    #[test]
    fn who_waits_at_a_file_that_was_removed_is_told() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("q.db");
        let mut queue = SqliteQueue::open(&path).expect("it is made");
        assert!(queue.lease(&Zone::default(), 1, Duration::ZERO).expect("it reads").is_empty());
        std::fs::remove_file(&path).expect("ours");
        for part in ["it is gone", "another file has its name"] {
            let leased = queue.lease(&Zone::default(), 1, Duration::ZERO).map(|_| ());
            let read = queue.answers(&run().id, 1, Duration::ZERO).map(|_| ());
            for found in [leased, read] {
                let error = found.expect_err("nobody sees it").to_string();
                assert!(error.contains(part), "{error}");
            }
            drop(SqliteQueue::open(&path).expect("it is made again"));
        }
    }

    #[test]
    fn who_has_lost_a_lease_can_neither_renew_nor_return_it() {
        let mut queue = SqliteQueue::in_memory().expect("memory");
        queue.open_run(&run()).expect("it is written");
        queue.publish(&[job(0)]).expect("it is written");
        let lost = queue.lease(&Zone::default(), 1, Duration::ZERO).expect("it reads");
        thread::sleep(Duration::from_millis(60));
        let held = queue.lease(&Zone::default(), 1, Duration::from_secs(1)).expect("it reads");
        assert_eq!(held.len(), 1);
        queue.extend(&held).expect("it is written");
        queue.nack(&lost).expect("it is written");
        assert_eq!(queue.left(&run(), &Zone::default()).expect("it reads"), 1);
        let free: i64 = queue
            .connection
            .query_row("SELECT count(*) FROM job WHERE free_at_unix_ms > ?1", [now_unix_ms()], |row| {
                row.get(0)
            })
            .expect("it reads");
        assert_eq!(free, 1, "somebody else's lease was given back");
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("other.db");
        Connection::open(&path).and_then(|other| other.execute_batch("CREATE TABLE t (a)")).expect("made");
        let mode = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).expect("ours");
        };
        mode(0o640);
        let error = SqliteQueue::open(&path).expect_err("others may read it").to_string();
        assert!(error.contains("mode 640"), "{error}");
        mode(0o600);
        let before = std::fs::read(&path).expect("it is there");
        let error = SqliteQueue::open(&path).expect_err("it is not ours").to_string();
        assert!(error.contains("another program"), "{error}");
        assert!(std::fs::read(&path).expect("it is there") == before);
    }
}

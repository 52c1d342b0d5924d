//! Rows from one consistent snapshot of the source into the target.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::sql_text::{name, put_row};
use net::{Client, NetError, Rows};

use crate::inspect::Table;
use crate::place::Place;
use crate::{End, Ends, dialect};

/// A packet of LOAD DATA.
const BLOCK_BYTES: usize = 1 << 20;
/// Blocks between reader and loader of a table.
const BLOCKS_WAITING: usize = 4;
/// Several sessions see the same only if nobody has committed between their first statements.
const SNAPSHOT_TRIES: usize = 200;
/// For statements that are under way on a MySQL server; those that come later wait, too.
const CLOSED_WAIT_S: u64 = 5;
const CLOSE_TRIES: usize = 12;
/// Source: MySQL manual, error 1205, ER_LOCK_WAIT_TIMEOUT.
const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// The guard does nothing for as long as a copy takes.
const IDLE_S_MAX: u64 = 31_536_000;
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// What the sessions of a snapshot all see.
pub struct Snapshot {
    pub sessions: Vec<Client>,
    /// Transactions up to this one are in it.
    pub(crate) place: Place,
    /// As long as it is there, nobody can change a table or an account of a MySQL server.
    pub guard: Option<Client>,
}

fn position(client: &mut Client) -> Result<(String, String), NetError> {
    client.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
    client.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    // Source: MariaDB manual, Binlog_snapshot_file: of the transaction that has begun with a consistent snapshot.
    let rows = client.query("SHOW STATUS LIKE 'binlog_snapshot_%'")?;
    let of = |wanted: &str| {
        rows.iter()
            .find(|row| row.at(0).is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
            .and_then(|row| row.at(1).map(std::borrow::Cow::into_owned))
            .unwrap_or_default()
    };
    Ok((of("Binlog_snapshot_file"), of("Binlog_snapshot_position")))
}

/// Sessions that see the same. Where a server is too busy for several, one.
///
/// # Errors
/// It cannot be asked, or does not report its position.
pub(crate) fn snapshot(ends: &Ends, end: End, sessions: usize) -> Result<Snapshot, String> {
    let said = |error: NetError| error.in_one_line();
    let mut clients =
        (0..sessions.max(1)).map(|_| ends.session(end)).collect::<Result<Vec<_>, _>>().map_err(said)?;
    if clients.first().is_some_and(dialect::is_mysql) {
        return of_mysql(ends.session(end).map_err(said)?, clients);
    }
    for _ in 0..SNAPSHOT_TRIES {
        let all = clients.iter_mut().map(position).collect::<Result<Vec<_>, _>>().map_err(said)?;
        let Some((file, at)) = all.first().cloned() else { break };
        if all.iter().all(|one| *one == (file.clone(), at.clone())) {
            return with_gtid(clients, &file, &at);
        }
    }
    clients.truncate(1);
    let Some(one) = clients.first_mut() else { return Err("no session".into()) };
    let (file, at) = position(one).map_err(said)?;
    with_gtid(clients, &file, &at)
}

fn with_gtid(mut sessions: Vec<Client>, file: &str, at: &str) -> Result<Snapshot, String> {
    if file.is_empty() {
        return Err("it does not report the position of a snapshot (Binlog_snapshot_file is empty)".into());
    }
    let at: u64 = at.parse().map_err(|_| format!("its position is \"{at}\""))?;
    let Some(first) = sessions.first_mut() else { return Err("no session".into()) };
    let rows = first
        .query(&format!("SELECT BINLOG_GTID_POS({}, {at})", net::sql_text::text(file)))
        .map_err(|error| error.in_one_line())?;
    // Empty: nothing was written since the binary log began, which is a position too.
    let gtid = rows.scalar().map(std::borrow::Cow::into_owned);
    let gtid = gtid.ok_or_else(|| format!("it knows no GTID of {file}:{at}"))?;
    Ok(Snapshot { sessions, place: Place::Gtid(gtid), guard: None })
}

/// A MySQL server does not report where a snapshot begins, so nothing commits while the snapshots begin and the place is read. That lock
/// is held for a moment; the other one, against changes of tables, for as long as the guard is there.
///
/// # Source
/// MySQL manual, FLUSH TABLES WITH READ LOCK (blocks commits), LOCK INSTANCE FOR BACKUP, the log_status Table.
fn of_mysql(mut guard: Client, mut sessions: Vec<Client>) -> Result<Snapshot, String> {
    let mut rows = None;
    for _ in 0..CLOSE_TRIES {
        match begun_together(&mut guard, &mut sessions) {
            Err(NetError::Refused { code: LOCK_WAIT_TIMEOUT, .. }) => {}
            other => {
                rows = Some(other.map_err(|error| error.in_one_line())?);
                break;
            }
        }
    }
    let rows = rows.ok_or_else(|| {
        format!("statements that last longer than {CLOSED_WAIT_S} s kept it from being locked for a moment, {CLOSE_TRIES} times")
    })?;
    let at = rows.text(0, "at").and_then(|text| text.parse().ok());
    let file = rows.text(0, "file").filter(|file| !file.is_empty());
    let (file, at) =
        file.zip(at).ok_or("performance_schema.log_status does not say where the binary log ends")?;
    let place = Place::Log { file: file.into_owned(), at };
    Ok(Snapshot { sessions, place, guard: Some(guard) })
}

fn begun_together(guard: &mut Client, sessions: &mut [Client]) -> Result<Rows, NetError> {
    // Of one statement that is under way for long, everybody who writes would wait as long as this one does.
    guard.execute(&format!("SET SESSION lock_wait_timeout={CLOSED_WAIT_S}, wait_timeout={IDLE_S_MAX}"))?;
    guard.execute("LOCK INSTANCE FOR BACKUP")?;
    guard.execute("FLUSH TABLES WITH READ LOCK")?;
    for session in sessions {
        session.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        session.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    }
    let rows = guard.query(
        "SELECT JSON_UNQUOTE(JSON_EXTRACT(`LOCAL`, '$.binary_log_file')) AS file, \
         JSON_EXTRACT(`LOCAL`, '$.binary_log_position') AS at FROM performance_schema.log_status",
    )?;
    // The lock of the instance stays.
    guard.execute("UNLOCK TABLES")?;
    Ok(rows)
}

/// How long one side has waited for the other, all sessions together.
#[derive(Default)]
struct Waited(AtomicU64);

impl Waited {
    fn add(&self, began: Instant) {
        let us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(us, Ordering::Relaxed);
    }
}

/// How far a copy is.
#[derive(Default)]
struct Done {
    rows: AtomicU64,
    /// As the target is sent them.
    bytes: AtomicU64,
    for_target: Waited,
    for_source: Waited,
}

impl Done {
    /// `total_bytes` is what the source's statistics say, and not the same bytes: so what is left is some time.
    fn told(&self, total_bytes: u64, elapsed: Duration) -> String {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = bytes as f64 / elapsed.as_secs_f64().max(0.001);
        let left = match total_bytes.checked_sub(bytes) {
            Some(left) if bytes > 0 => format!("some {:.0} s left", (left as f64 / rate).ceil()),
            _ => "how long it will take cannot be told".to_owned(),
        };
        let [target, source] = [&self.for_target, &self.for_source].map(|one| one.0.load(Ordering::Relaxed));
        // One that waits twice as long as the other is not what limits it.
        let bottleneck = match () {
            () if target / 2 > source => ", the target is the bottleneck",
            () if source / 2 > target => ", the source is the bottleneck",
            () => "",
        };
        format!(
            "{} rows of whole tables, {} MB of some {} MB, {:.1} MB/s, {left}{bottleneck}",
            self.rows.load(Ordering::Relaxed),
            bytes / 1_000_000,
            total_bytes / 1_000_000,
            rate / 1e6
        )
    }
}

/// Copies all tables; returns how many rows.
///
/// # Errors
/// The first that failed, with its table.
pub fn all(
    ends: &Ends,
    snapshot: &mut Snapshot,
    tables: &[Table],
    tell: &mut dyn FnMut(&str),
) -> Result<u64, String> {
    let queue: Mutex<VecDeque<&Table>> = Mutex::new(tables.iter().collect());
    let done = Done::default();
    let under_way: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let total_bytes: u64 = tables.iter().map(|table| table.data_bytes).sum();
    let failed: Mutex<Option<String>> = Mutex::new(None);
    let lock = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let threads: Vec<_> = snapshot
            .sessions
            .iter_mut()
            .map(|source| {
                let (queue, done, under_way) = (&queue, &done, &under_way);
                scope.spawn(move || {
                    let mut target = match ends.session(End::Target) {
                        Ok(target) => target,
                        Err(error) => return Err(error.in_one_line()),
                    };
                    loop {
                        if lock().is_some() {
                            return Ok(());
                        }
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some(table) = next else { return Ok(()) };
                        let named = format!("{}.{}", table.schema, table.name);
                        under_way.lock().unwrap_or_else(PoisonError::into_inner).push(named.clone());
                        let copied = one(source, &mut target, table, done);
                        under_way.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| *one != named);
                        done.rows.fetch_add(
                            copied.map_err(|why| {
                                let why = format!("{named}: {why}");
                                lock().get_or_insert(why.clone());
                                why
                            })?,
                            Ordering::Relaxed,
                        );
                    }
                })
            })
            .collect();
        let (began, mut told) = (Instant::now(), Instant::now());
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if told.elapsed() > TOLD_EVERY {
                told = Instant::now();
                let tables = under_way.lock().unwrap_or_else(PoisonError::into_inner).join(", ");
                tell(&format!("{}: {tables}", done.told(total_bytes, began.elapsed())));
            }
        }
        for thread in threads {
            let ended = thread.join().unwrap_or_else(|_| Err("its thread has panicked".into()));
            if let Err(why) = ended {
                lock().get_or_insert(why);
            }
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(why),
        None => Ok(done.rows.into_inner()),
    }
}

fn one(source: &mut Client, target: &mut Client, table: &Table, done: &Done) -> Result<u64, String> {
    let read: Vec<String> = table.columns.iter().map(crate::inspect::Column::read_as).collect();
    let write: Vec<String> = table.columns.iter().map(|column| name(&column.name)).collect();
    let select = format!("SELECT {} FROM {}", read.join(", "), table.quoted());
    // Bytes are what is stored: see `Ends::session`.
    let load = format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET binary ({})",
        table.quoted(),
        write.join(", ")
    );
    let (blocks, waiting): (SyncSender<Vec<u8>>, Receiver<Vec<u8>>) = sync_channel(BLOCKS_WAITING);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut block = Vec::with_capacity(BLOCK_BYTES + (BLOCK_BYTES >> 2));
            let (mut sent, mut broken) = (0_u64, None);
            let read = source.query_each(&select, |row| {
                if broken.is_some() {
                    return;
                }
                if let Err(error) = put_row(&mut block, row) {
                    broken = Some(error.to_string());
                    return;
                }
                sent += 1;
                if block.len() >= BLOCK_BYTES {
                    // The loader is gone, and says why.
                    let full =
                        std::mem::replace(&mut block, Vec::with_capacity(BLOCK_BYTES + (BLOCK_BYTES >> 2)));
                    let began = Instant::now();
                    if blocks.send(full).is_err() {
                        broken = Some("the target takes no more rows".into());
                    }
                    done.for_target.add(began);
                }
            });
            read.map_err(|error| error.in_one_line())?;
            if let Some(why) = broken {
                return Err(why);
            }
            if !block.is_empty() {
                // As above.
                let _ = blocks.send(block);
            }
            // What is closed before this was not all.
            let _ = blocks.send(Vec::new());
            Ok(sent)
        });
        let loaded = target.load(&load, &mut |out| {
            let began = Instant::now();
            let block = waiting.recv();
            done.for_source.add(began);
            *out = block.map_err(|_| {
                "the source has no more rows, and has not said that these were all".to_owned()
            })?;
            done.bytes.fetch_add(out.len() as u64, Ordering::Relaxed);
            Ok(())
        });
        drop(waiting);
        let sent = reader.join().unwrap_or_else(|_| Err("its thread has panicked".into()))?;
        let loaded = loaded.map_err(|error| error.in_one_line())?;
        if loaded.affected_rows != sent || loaded.warnings > 0 {
            let first = target.query("SHOW WARNINGS LIMIT 1").ok();
            let first = first.and_then(|rows| rows.text(0, "Message").map(std::borrow::Cow::into_owned));
            return Err(format!(
                "{sent} rows were read, {} were loaded, with {} warnings: {}",
                loaded.affected_rows,
                loaded.warnings,
                first.unwrap_or_default()
            ));
        }
        Ok(sent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_tells_what_is_left_and_who_is_waited_for() {
        let done = |bytes: u64, target: u64, source: u64| Done {
            rows: 7.into(),
            bytes: bytes.into(),
            for_target: Waited(target.into()),
            for_source: Waited(source.into()),
        };
        let ten = Duration::from_secs(10);
        assert_eq!(
            done(20_000_000, 9_000_000, 1_000).told(60_000_000, ten),
            "7 rows of whole tables, 20 MB of some 60 MB, 2.0 MB/s, some 20 s left, the target is the bottleneck"
        );
        let text = done(20_000_000, 1_000, 9_000_000).told(60_000_000, ten);
        assert!(text.ends_with("the source is the bottleneck"), "{text}");
        // More than the statistics had, and both wait alike: nothing is made up.
        let text = done(90_000_000, 1_000, 1_000).told(60_000_000, ten);
        assert!(text.ends_with("9.0 MB/s, how long it will take cannot be told"), "{text}");
        assert!(done(0, 0, 0).told(60_000_000, Duration::ZERO).ends_with("cannot be told"));
    }
}

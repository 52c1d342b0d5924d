//! Rows from one consistent snapshot of the source into the target.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::sql_text::{name, put_row};
use net::{Client, NetError, Rows};

use crate::compare::{self, By};
use crate::inspect::Table;
use crate::place::Place;
use crate::slices::{Board, Next, Slice};
use crate::{End, Ends, dialect, later};

/// A packet of LOAD DATA.
const BLOCK_BYTES: usize = 960_000;
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
const POLL: Duration = Duration::from_millis(20);
/// The indexes of one table, or the rows that were sent last.
const STATEMENT_MAX: Duration = Duration::from_secs(24 * 3600);
/// One server waits for the other as long as that takes.
const PEER_S_MAX: u64 = 86_400;

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
    were_there: AtomicU64,
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
            "{} rows of whole tables and slices, {} MB of some {} MB, {:.1} MB/s, {left}{bottleneck}",
            self.rows.load(Ordering::Relaxed),
            bytes / 1_000_000,
            total_bytes / 1_000_000,
            rate / 1e6
        )
    }
}

/// What a copy brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copied {
    pub rows: u64,
    /// Of these, so many were on the target from an earlier try, and equal.
    pub were_there: u64,
}

/// What every session of a copy knows.
struct Work<'w> {
    ends: &'w Ends,
    tables: &'w [Table],
    /// Those that have rows of an earlier try.
    begun: &'w BTreeSet<String>,
    board: Mutex<Board<'w>>,
    under_way: Mutex<Vec<String>>,
    failed: Mutex<Option<String>>,
    done: Done,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that waits for the other one through us must not give it up.
fn be_patient(client: &mut Client) -> Result<(), NetError> {
    client.set_io_timeout(STATEMENT_MAX)?;
    client
        .execute(&format!(
            "SET SESSION wait_timeout={IDLE_S_MAX}, net_write_timeout={PEER_S_MAX}, net_read_timeout={PEER_S_MAX}"
        ))
        .map(|_| ())
}

/// Copies all tables. What `begun` has rows of is compared first, slice by slice, and copied only where it differs.
///
/// # Errors
/// The first that failed, with its table.
pub(crate) fn all(
    ends: &Ends,
    snapshot: &mut Snapshot,
    tables: &[Table],
    begun: &BTreeSet<String>,
    tell: &mut dyn FnMut(&str),
) -> Result<Copied, String> {
    let total_bytes: u64 = tables.iter().map(|table| table.data_bytes).sum();
    let work = Work {
        ends,
        tables,
        begun,
        board: Mutex::new(Board::new(tables, ends.slice_bytes)),
        under_way: Mutex::default(),
        failed: Mutex::default(),
        done: Done::default(),
    };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            snapshot.sessions.iter_mut().map(|source| scope.spawn(move || work.share(source))).collect();
        let (began, mut told) = (Instant::now(), Instant::now());
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if told.elapsed() > TOLD_EVERY {
                told = Instant::now();
                let mut names = lock(&work.under_way).clone();
                names.sort();
                names.dedup();
                tell(&format!("{}: {}", work.done.told(total_bytes, began.elapsed()), names.join(", ")));
            }
        }
        for thread in threads {
            let ended = thread.join().unwrap_or_else(|_| Err("its thread has panicked".into()));
            if let Err(why) = ended {
                lock(&work.failed).get_or_insert(why);
            }
        }
    });
    match work.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(why),
        None => {
            Ok(Copied { rows: work.done.rows.into_inner(), were_there: work.done.were_there.into_inner() })
        }
    }
}

impl Work<'_> {
    /// What one session does of it.
    fn share(&self, source: &mut Client) -> Result<(), String> {
        let mut target = self.ends.session(End::Target).map_err(|error| error.in_one_line())?;
        for client in [&mut *source, &mut target] {
            be_patient(client).map_err(|error| error.in_one_line())?;
        }
        while lock(&self.failed).is_none() {
            let next = lock(&self.board).take();
            let (index, cut) = match next {
                Next::Nothing => break,
                Next::Wait => {
                    std::thread::sleep(POLL);
                    continue;
                }
                Next::Whole(index) => (index, None),
                Next::Cut { table, above, rows } => (table, Some((above, rows))),
            };
            let Some(table) = self.tables.get(index) else { break };
            let named = format!("{}.{}", table.schema, table.name);
            lock(&self.under_way).push(named.clone());
            let copied = self.part(source, &mut target, (index, table), cut);
            let mut names = lock(&self.under_way);
            if let Some(at) = names.iter().position(|one| *one == named) {
                names.swap_remove(at);
            }
            drop(names);
            copied.map_err(|why| {
                let why = format!("{named}: {why}");
                lock(&self.failed).get_or_insert(why.clone());
                why
            })?;
        }
        Ok(())
    }

    fn part(
        &self,
        source: &mut Client,
        target: &mut Client,
        (index, table): (usize, &Table),
        cut: Option<(Option<i128>, u64)>,
    ) -> Result<(), String> {
        let slice = match cut {
            None => Slice::default(),
            Some((above, rows)) => {
                let up_to = end_of_slice(source, table, above, rows)?;
                lock(&self.board).cut(index, up_to);
                Slice { above, up_to }
            }
        };
        let within = slice.condition(table);
        let bytes =
            if self.begun.contains(&table.quoted()) && self.is_there(source, target, table, &within)? {
                0
            } else {
                let (rows, bytes) = one(source, target, table, &within, &self.done)?;
                self.done.rows.fetch_add(rows, Ordering::Relaxed);
                bytes
            };
        if lock(&self.board).done(index, bytes) {
            later::make(source, target, table)?;
        }
        Ok(())
    }

    /// Whether those rows are on the target as the snapshot has them. If not, none of them is any more.
    fn is_there(
        &self,
        source: &mut Client,
        target: &mut Client,
        table: &Table,
        within: &str,
    ) -> Result<bool, String> {
        let some = format!("SELECT 1 FROM {}{within} LIMIT 1", table.quoted());
        if target.query(&some).map_err(|error| error.in_one_line())?.is_empty() {
            return Ok(false);
        }
        let by = if dialect::is_cross(source, target) { By::Us } else { By::Servers };
        let (here, there) = std::thread::scope(|scope| {
            let here = scope.spawn(|| compare::digest(source, table, within, by));
            let there = compare::digest(target, table, within, by);
            (here.join().unwrap_or_else(|_| Err("its thread has panicked".into())), there)
        });
        let here = here?;
        if here == there? {
            self.done.rows.fetch_add(here.rows, Ordering::Relaxed);
            self.done.were_there.fetch_add(here.rows, Ordering::Relaxed);
            return Ok(true);
        }
        let away = if within.is_empty() {
            format!("TRUNCATE TABLE {}", table.quoted())
        } else {
            format!("DELETE FROM {}{within}", table.quoted())
        };
        target.execute(&away).map_err(|error| error.in_one_line())?;
        Ok(false)
    }
}

/// The key of the last row of a slice that begins behind `above` and has so many rows; `None`: the table has no more than these.
fn end_of_slice(
    source: &mut Client,
    table: &Table,
    above: Option<i128>,
    rows: u64,
) -> Result<Option<i128>, String> {
    let key = table.cut_by.as_deref().map(name).ok_or("its key is no whole number")?;
    let from = Slice { above, up_to: None }.condition(table);
    let ask = format!(
        "SELECT {key} FROM {} FORCE INDEX (PRIMARY){from} ORDER BY {key} LIMIT 1 OFFSET {}",
        table.quoted(),
        rows.saturating_sub(1)
    );
    let found = source.query(&ask).map_err(|error| error.in_one_line())?;
    let Some(text) = found.scalar() else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("a key is {text}"))
}

/// Rows, and bytes as they were sent.
fn one(
    source: &mut Client,
    target: &mut Client,
    table: &Table,
    within: &str,
    done: &Done,
) -> Result<(u64, u64), String> {
    let read: Vec<String> = table.columns.iter().map(crate::inspect::Column::read_as).collect();
    let write: Vec<String> = table.columns.iter().map(|column| name(&column.name)).collect();
    let select = format!("SELECT {} FROM {}{within}", read.join(", "), table.quoted());
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
        let mut bytes = 0;
        let loaded = target.load(&load, &mut |out| {
            let began = Instant::now();
            let block = waiting.recv();
            done.for_source.add(began);
            *out = block.map_err(|_| {
                "the source has no more rows, and has not said that these were all".to_owned()
            })?;
            bytes += out.len() as u64;
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
        Ok((sent, bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_tells_what_is_left_and_who_is_waited_for() {
        let done = |bytes: u64, target: u64, source: u64| Done {
            rows: 7.into(),
            were_there: 0.into(),
            bytes: bytes.into(),
            for_target: Waited(target.into()),
            for_source: Waited(source.into()),
        };
        let ten = Duration::from_secs(10);
        assert_eq!(
            done(20_000_000, 9_000_000, 1_000).told(60_000_000, ten),
            "7 rows of whole tables and slices, 20 MB of some 60 MB, 2.0 MB/s, some 20 s left, the target is the bottleneck"
        );
        let text = done(20_000_000, 1_000, 9_000_000).told(60_000_000, ten);
        assert!(text.ends_with("the source is the bottleneck"), "{text}");
        // More than the statistics had, and both wait alike: nothing is made up.
        let text = done(90_000_000, 1_000, 1_000).told(60_000_000, ten);
        assert!(text.ends_with("9.0 MB/s, how long it will take cannot be told"), "{text}");
        assert!(done(0, 0, 0).told(60_000_000, Duration::ZERO).ends_with("cannot be told"));
    }
}

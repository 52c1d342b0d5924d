//! Rows from one consistent snapshot of the source into the target.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::sql_text::{name, put_row};
use net::{Client, NetError};

use crate::inspect::Table;
use crate::{End, Ends};

/// A packet of LOAD DATA.
const BLOCK_BYTES: usize = 1 << 20;
/// Blocks between reader and loader of a table.
const BLOCKS_WAITING: usize = 4;
/// Several sessions see the same only if nobody has committed between their first statements.
const SNAPSHOT_TRIES: usize = 200;
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// What the sessions of a snapshot all see.
pub struct Snapshot {
    pub sessions: Vec<Client>,
    /// `0-1-1806`: transactions up to this one are in it.
    pub gtid: String,
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
pub fn snapshot(ends: &Ends, end: End, sessions: usize) -> Result<Snapshot, String> {
    let said = |error: NetError| error.in_one_line();
    let mut clients =
        (0..sessions.max(1)).map(|_| ends.session(end)).collect::<Result<Vec<_>, _>>().map_err(said)?;
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
    Ok(Snapshot { sessions, gtid })
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
    let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let total_bytes: u64 = tables.iter().map(|table| table.data_bytes).sum();
    let failed: Mutex<Option<String>> = Mutex::new(None);
    let lock = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let threads: Vec<_> = snapshot
            .sessions
            .iter_mut()
            .map(|source| {
                let (queue, rows, bytes) = (&queue, &rows, &bytes);
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
                        let copied = one(source, &mut target, table, bytes);
                        rows.fetch_add(
                            copied.map_err(|why| {
                                let why = format!("{}.{}: {why}", table.schema, table.name);
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
                let mb = bytes.load(Ordering::Relaxed) / 1_000_000;
                let rate = mb as f64 / began.elapsed().as_secs_f64();
                tell(&format!(
                    "{} rows, {mb} MB of some {} MB, {rate:.1} MB/s",
                    rows.load(Ordering::Relaxed),
                    total_bytes / 1_000_000
                ));
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
        None => Ok(rows.into_inner()),
    }
}

fn one(source: &mut Client, target: &mut Client, table: &Table, bytes: &AtomicU64) -> Result<u64, String> {
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
                    if blocks.send(full).is_err() {
                        broken = Some("the target takes no more rows".into());
                    }
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
        let loaded = target.load(&load, &mut |out| match waiting.recv() {
            Ok(block) => {
                bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
                *out = block;
                Ok(())
            }
            Err(_) => Err("the source has no more rows, and has not said that these were all".into()),
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

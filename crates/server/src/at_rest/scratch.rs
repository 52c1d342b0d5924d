//! A schema of sealion's own, in which pages are made to be written anew, and times are measured.

use std::collections::BTreeSet;
use std::time::Instant;

use net::{Client, NetError};
use serde::{Deserialize, Serialize};

/// Where pages of undo are made to be written anew.
pub const SCRATCH: &str = "sealion_scratch";
/// Tables with this comment are ours; whoever else has a schema of that name keeps it.
const SCRATCH_MARK: &str = "sealion: undo pages are written over with it";
/// A row, and with it what undo keeps of it, is about so long.
const SCRATCH_ROW_BYTES: u64 = 200;
const UNDO_BYTES_PER_ROW: u64 = 230;
/// Rows in one statement.
const SCRATCH_ROWS_MAX: u64 = 400_000;
/// Of one transaction: more than the single pages of its segment.
const SCRATCH_ROWS_MIN: u64 = 4_000;
/// Of one table: its single pages, half as many as an extent has, and so many extents, each filled to its end. The extent that was let go of
/// first is the first that is taken, and its pages one after the other: what lies behind the last row would stay in every round.
const SYSTEM_EXTENTS: u64 = 2;
/// What InnoDB needs of a row with [`SCRATCH_ROW_BYTES`] in its primary key, with header and system columns.
const SYSTEM_ROW_BYTES: u64 = SCRATCH_ROW_BYTES + 29;
/// Of a page without rows.
const PAGE_OVERHEAD_BYTES: u64 = 160;
/// Of all tables together so many pages at least are changed at once: twice what the doublewrite buffer holds.
const BATCH_PAGES: u64 = 256;
/// So many rows fill that many pages and more.
const COPIED_ROWS: u64 = 24_000;
/// Of tables with [`rows_to_fill`], so many have as much.
const COPIED_TABLES_MAX: u32 = 3;
/// Less than a session waits for its answer.
const PURGE_WAIT_S: u64 = 20;
/// Transactions; under writers there are always some.
const HISTORY_LEFT: u64 = 50;
/// Some 30 MB.
const SAMPLE_ROWS: u64 = 120_000;

/// What is set otherwise while pages are written anew, as it was before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveSettings {
    /// `innodb_max_dirty_pages_pct`; `None`: the server does not have it.
    pub dirty_pages_pct: Option<String>,
    /// `innodb_io_capacity`.
    #[serde(default)]
    pub io_capacity: Option<String>,
    /// `innodb_io_capacity_max`.
    #[serde(default)]
    pub io_capacity_max: Option<String>,
    /// `innodb_immediate_scrub_data_uncompressed`.
    pub scrubs: Option<String>,
    /// `innodb_file_per_table`.
    #[serde(default)]
    pub file_per_table: Option<String>,
}

impl LiveSettings {
    /// Each as it was; `None`: the server does not have it.
    pub fn named(&self) -> [(&'static str, Option<&str>); 5] {
        [
            ("innodb_max_dirty_pages_pct", self.dirty_pages_pct.as_deref()),
            ("innodb_io_capacity", self.io_capacity.as_deref()),
            ("innodb_io_capacity_max", self.io_capacity_max.as_deref()),
            ("innodb_immediate_scrub_data_uncompressed", self.scrubs.as_deref()),
            ("innodb_file_per_table", self.file_per_table.as_deref()),
        ]
    }

    /// # Errors
    /// As the server says.
    pub fn restore(&self, client: &mut Client) -> Result<(), NetError> {
        for (name, value) in self.named() {
            let is_plain =
                |value: &&str| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
            if let Some(value) = value.filter(is_plain) {
                client.execute(&format!("SET GLOBAL {name}={value}"))?;
            }
        }
        Ok(())
    }
}

/// What undo pages are written over with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoRound {
    /// About so much of undo, of all transactions together.
    pub bytes: u64,
    /// Open at once, each with a segment of its own: a segment begins with 32 single pages, always the first that are free, and takes whole
    /// extents then. So what was freed in single pages behind those is reached by many transactions only.
    pub transactions: u32,
}

/// Of no replica's and of no other node's concern.
fn alone(client: &mut Client, is_galera: bool) -> Result<(), NetError> {
    client.execute("SET SESSION sql_log_bin=0")?;
    if is_galera {
        client.execute("SET SESSION wsrep_on=OFF")?;
    }
    Ok(())
}

/// Dirty pages are written: those of the schema, so that copies of other pages in the doublewrite buffer are written over; then what was freed
/// with it, so that the files can be looked at.
///
/// # Source
/// Seen on MariaDB 10.11.19: a page that is written for the first time has no copy there, and only a batch of 128 reaches the end of the buffer
/// (`buf_page_t::flush`, `buf_dblwr_t`). So pages that are on the disk are changed again, `tables` of them at once.
fn write_and_drop(client: &mut Client, tables: &[String], before: &LiveSettings) -> Result<(), NetError> {
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct=0")?;
    client.execute("SELECT SLEEP(2)")?;
    let is_small = |number: &String| number.parse().is_ok_and(|number: u64| number < BATCH_PAGES);
    if before.io_capacity.as_ref().is_some_and(is_small) {
        client.execute(&format!("SET GLOBAL innodb_io_capacity={BATCH_PAGES}"))?;
    }
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct=90")?;
    for table in tables {
        client.execute(&format!(
            "UPDATE {SCRATCH}.{table} SET b = REPEAT('z', {SCRATCH_ROW_BYTES}) WHERE a <= {COPIED_ROWS}"
        ))?;
    }
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct=0")?;
    client.execute("SELECT SLEEP(2)")?;
    client.execute(&format!("DROP DATABASE {SCRATCH}"))?;
    client.execute("SELECT SLEEP(1)").map(|_| ())
}

/// What purge has not let go of yet cannot be taken into use: it is waited for, and on a busy server not without end.
///
/// # Source
/// MariaDB manual, innodb_max_purge_lag_wait (10.5.7): setting it waits, and keeps nothing.
fn wait_for_purge(client: &mut Client) -> Result<(), NetError> {
    client.execute(&format!("SET SESSION max_statement_time={PURGE_WAIT_S}"))?;
    match client.execute(&format!("SET GLOBAL innodb_max_purge_lag_wait={HISTORY_LEFT}")) {
        // It took too long, or the server is older.
        Ok(_) | Err(NetError::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    client.execute("SET SESSION max_statement_time=0").map(|_| ())
}

/// Makes InnoDB take undo pages into use, and let them go again: what was freed in them is written over. Only on this server: no replica and
/// no other node is told. All is rolled back. Behind it, however it ended, settings are as `before` says. `open` makes a session.
///
/// # Source
/// Tried on MariaDB 10.11.19: freed undo pages of ibdata1 that its threads skip are gone behind it. Segments: `fseg_alloc_free_page_low`.
///
/// # Errors
/// As the server says. The schema that it works in is removed again at the next time, so [`scratch_is_foreign`] is asked before.
pub fn renew_undo(
    client: &mut Client,
    mut open: impl FnMut() -> Result<Client, NetError>,
    round: UndoRound,
    before: &LiveSettings,
    is_galera: bool,
) -> Result<(), NetError> {
    let transactions = u64::from(round.transactions.max(1));
    let each =
        (round.bytes.div_ceil(UNDO_BYTES_PER_ROW).min(SCRATCH_ROWS_MAX) / transactions).max(SCRATCH_ROWS_MIN);
    alone(client, is_galera)?;
    client.execute("SET GLOBAL innodb_immediate_scrub_data_uncompressed=ON")?;
    let mut work = |client: &mut Client| -> Result<(), NetError> {
        wait_for_purge(client)?;
        fill_scratch(client, each * transactions)?;
        let mut sessions = Vec::new();
        for number in 0..transactions {
            let mut session = open()?;
            alone(&mut session, is_galera)?;
            // A scan of the whole table would wait for the rows of the others (11.8). And else the row behind its own is locked, too, which is the next one's first.
            session.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
            session.execute("BEGIN")?;
            session.execute(&format!(
                "UPDATE {SCRATCH}.t FORCE INDEX (PRIMARY) SET b = REPEAT('y', {SCRATCH_ROW_BYTES}) WHERE a > {} AND a < {}",
                number * each,
                (number + 1) * each
            ))?;
            sessions.push(session);
        }
        for session in &mut sessions {
            session.execute("ROLLBACK")?;
        }
        write_and_drop(client, &["t".to_owned()], before)
    };
    let worked = work(client);
    worked.and(before.restore(client))
}

/// Rows in the order of their key that fill the single pages of a table and [`SYSTEM_EXTENTS`], to the last page or nearly.
///
/// # Source
/// Seen on MariaDB 10.11.19 with pages of 16 KiB: 160 of them. `fseg_alloc_free_page_low`; an extent has 64 pages and 1 MiB at least (`FSP_EXTENT_SIZE`), a page that is
/// filled in the order of the key is left 1/16 empty (`page_cur_tuple_insert`, `dict_index_get_space_reserve`).
fn rows_to_fill(page_bytes: u64) -> u64 {
    let extent = (1024 * 1024 / page_bytes.max(1)).max(64);
    let of_a_page = page_bytes.saturating_sub(PAGE_OVERHEAD_BYTES) * 15 / 16 / SYSTEM_ROW_BYTES;
    // The first page is left with half of its rows.
    (extent / 2 + extent * SYSTEM_EXTENTS - 1) * of_a_page
}

/// The same for freed pages of the system tablespace, which no undo comes to where that has tablespaces of its own: so many tables are made
/// there, filled and dropped. Each has 32 single pages, the first that are free, and whole extents, those that are free for longest. Answers which tables of others came
/// there meanwhile, by the names of their files: while ours are made, `innodb_file_per_table` is off for everybody.
///
/// # Source
/// Tried on MariaDB 10.11.19 with `innodb_undo_tablespaces=2`: pages of rollback segments and undo that were in ibdata1 before stay there
/// otherwise.
///
/// # Errors
/// As the server says; as of [`renew_undo`].
pub fn renew_system(
    client: &mut Client,
    tables: u32,
    before: &LiveSettings,
    is_galera: bool,
) -> Result<Vec<String>, NetError> {
    alone(client, is_galera)?;
    client.execute("SET GLOBAL innodb_immediate_scrub_data_uncompressed=ON")?;
    let work = |client: &mut Client| -> Result<Vec<String>, NetError> {
        wait_for_purge(client)?;
        let there = in_system_space(client)?;
        let prior = client.query("SELECT @@GLOBAL.innodb_file_per_table")?;
        let prior = if prior.scalar().as_deref() == Some("0") { "OFF" } else { "ON" };
        client.execute(&format!("DROP DATABASE IF EXISTS {SCRATCH}"))?;
        client.execute(&format!("CREATE DATABASE {SCRATCH}"))?;
        client.execute("SET GLOBAL innodb_file_per_table=OFF")?;
        let made = (1..=tables.max(1)).try_for_each(|number| {
            let statement = format!(
                "CREATE TABLE {SCRATCH}.s{number} (a BIGINT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB COMMENT='{SCRATCH_MARK}'"
            );
            client.execute(&statement).map(|_| ())
        });
        client.execute(&format!("SET GLOBAL innodb_file_per_table={prior}"))?;
        made?;
        let own = format!("{SCRATCH}/");
        let strangers = in_system_space(client)?;
        let strangers =
            strangers.difference(&there).filter(|name| !name.starts_with(&own)).cloned().collect();
        let page = client.query("SELECT @@GLOBAL.innodb_page_size")?;
        let page_bytes = page.scalar().and_then(|bytes| bytes.parse().ok()).unwrap_or(16_384);
        fill(client, "s1", rows_to_fill(page_bytes))?;
        for number in 2..=tables {
            client.execute(&format!("INSERT INTO {SCRATCH}.s{number} SELECT * FROM {SCRATCH}.s1"))?;
        }
        let copied: Vec<String> =
            (1..=tables.clamp(1, COPIED_TABLES_MAX)).map(|number| format!("s{number}")).collect();
        write_and_drop(client, &copied, before)?;
        Ok(strangers)
    };
    let worked = work(client);
    let restored = before.restore(client);
    worked.and_then(|strangers| restored.map(|()| strangers))
}

/// Tables of users in the system tablespace, as their files would be called.
fn in_system_space(client: &mut Client) -> Result<BTreeSet<String>, NetError> {
    let rows = client.query("SELECT NAME FROM information_schema.INNODB_SYS_TABLES WHERE SPACE = 0")?;
    Ok(rows.iter().filter_map(|row| Some(row.at(0)?.into_owned())).collect())
}

/// Whether somebody else has a schema of the name of ours: something in it is not what [`renew_undo`] makes there.
///
/// # Errors
/// It does not tell.
pub fn scratch_is_foreign(client: &mut Client) -> Result<bool, NetError> {
    let foreign = client.query(&format!(
        "SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{SCRATCH}' AND TABLE_COMMENT <> '{SCRATCH_MARK}') \
         + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '{SCRATCH}') \
         + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '{SCRATCH}')"
    ))?;
    Ok(foreign.scalar().as_deref() != Some("0"))
}

/// How fast this server writes a table anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildSample {
    pub bytes: u64,
    pub took_ms: u64,
}

/// Rebuilds a table of sealion's own, which is dropped then. Only on this server: no replica and no other node is told.
///
/// # Errors
/// As the server says. [`scratch_is_foreign`] is asked before.
pub fn sample_rebuild(client: &mut Client, is_galera: bool) -> Result<RebuildSample, NetError> {
    alone(client, is_galera)?;
    let work = |client: &mut Client| -> Result<RebuildSample, NetError> {
        fill_scratch(client, SAMPLE_ROWS)?;
        let began = Instant::now();
        client.execute(&format!("ALTER TABLE {SCRATCH}.t FORCE"))?;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let size = format!(
            "SELECT FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME = '{SCRATCH}/t'"
        );
        let rows = client.query(&size)?;
        let bytes = rows.iter().next().and_then(|row| row.at(0)?.parse().ok());
        Ok(RebuildSample { bytes: bytes.unwrap_or(SAMPLE_ROWS * SCRATCH_ROW_BYTES), took_ms })
    };
    let worked = work(client);
    let dropped = client.execute(&format!("DROP DATABASE IF EXISTS {SCRATCH}"));
    worked.and_then(|sample| dropped.map(|_| sample))
}

/// A table with rows from 1 to `rows`.
fn fill_scratch(client: &mut Client, rows: u64) -> Result<(), NetError> {
    client.execute(&format!("DROP DATABASE IF EXISTS {SCRATCH}"))?;
    client.execute(&format!("CREATE DATABASE {SCRATCH}"))?;
    client.execute(&format!(
        "CREATE TABLE {SCRATCH}.t (a BIGINT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB COMMENT='{SCRATCH_MARK}'"
    ))?;
    fill(client, "t", rows)
}

fn fill(client: &mut Client, table: &str, rows: u64) -> Result<(), NetError> {
    client.execute(&format!("SET SESSION max_recursive_iterations={}", rows + 1))?;
    client
        .execute(&format!(
            "INSERT INTO {SCRATCH}.{table} WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < {rows}) \
             SELECT a, REPEAT('x', {SCRATCH_ROW_BYTES}) FROM n"
        ))
        .map(|_| ())
}

//! What is asked of the server beside the canaries: sessions, refusals, how far its log is.

use std::time::Duration;

use net::{Client, NetError};
use site::{Cluster, OpsError};
use status_ops::sniff::{CANARY_SCHEMA, MARK};

use super::canary::{Canaries, Id};

/// A statement that writes all of its rows; what takes longer is given up, and said.
const STATEMENT_AT_MOST: Duration = Duration::from_secs(300);
/// Rows that a recursion makes: below the default limit of both families (1000).
pub const ROWS_A_ROUND: u64 = 900;
/// Of a row of [`value`].
pub const ROW_BYTES: u64 = 190;
const REPEATED: u32 = 9;
const REPEATED_IN_SORT: u32 = 3;

pub fn connect(cluster: &Cluster) -> Result<Client, OpsError> {
    open(cluster).map_err(|why| {
        OpsError::cannot_look("the server does not answer", why, "check the connection options")
    })
}

/// The same, for a statement that may take long.
pub fn open(cluster: &Cluster) -> Result<Client, String> {
    let node = cluster.nodes.first().ok_or("no server was named")?;
    let mut client = Client::connect(&cluster.login_at(node)).map_err(|error| error.in_one_line())?;
    client.set_io_timeout(STATEMENT_AT_MOST).map_err(|error| error.in_one_line())?;
    Ok(client)
}

pub fn run(client: &mut Client, sql: &str) -> Result<(), String> {
    client.execute(sql).map(|_| ()).map_err(|error| error.in_one_line())
}

/// Settings that not every version has: where one is refused, the default holds.
pub fn set(client: &mut Client, settings: &[&str]) {
    for one in settings {
        let _ = client.execute(&format!("SET SESSION {one}"));
    }
}

/// What makes a server write to files early, as far as a session may say.
pub const SMALL_BUFFERS: &[&str] = &[
    "sort_buffer_size = 32768",
    "max_length_for_sort_data = 8388608",
    "tmp_table_size = 1024",
    "tmp_memory_table_size = 0",
    "max_heap_table_size = 16384",
    "innodb_ddl_buffer_size = 65536",
    "binlog_format = ROW",
    "binlog_transaction_compression = OFF",
    "long_query_time = 0",
];

/// A table expression of `rounds` times [`ROWS_A_ROUND`] numbers, `n`.
pub fn numbers(rounds: u64) -> String {
    format!(
        "(WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < {ROWS_A_ROUND}) \
         SELECT x.i * 1000 + y.i AS n FROM r x JOIN r y ON y.i <= {rounds}) g"
    )
}

/// An expression over `n`, unlike in each row, with the canary many times.
pub fn value(canaries: &Canaries, id: Id) -> String {
    repeated(canaries, id, REPEATED)
}

/// The same, short: MariaDB sorts long values by the numbers of their rows, and the values are gone from the file when it
/// is done.
pub fn short_value(canaries: &Canaries, id: Id) -> String {
    repeated(canaries, id, REPEATED_IN_SORT)
}

fn repeated(canaries: &Canaries, id: Id, times: u32) -> String {
    format!("CONCAT(LPAD(n, 8, '0'), ':', REPEAT({}, {times}))", canaries.hidden(id))
}

/// Tables that a run which was killed has left; each has the mark of ours. One that cannot be dropped is told by what is made then.
pub fn drop_left(client: &mut net::Client) {
    let marked = format!(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{CANARY_SCHEMA}' AND TABLE_COMMENT LIKE '{MARK}%'"
    );
    let left: Vec<String> = match client.query(&marked) {
        Ok(rows) => rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned)).collect(),
        Err(_) => return,
    };
    for table in left {
        let _ = client.execute(&format!("DROP TABLE {CANARY_SCHEMA}.`{}`", table.replace('`', "``")));
    }
}

pub fn create(table: &str, kind: &str, columns: &str, options: &str) -> String {
    format!("CREATE {kind} {CANARY_SCHEMA}.{table} ({columns}) {options} COMMENT='{MARK}; may be dropped'")
}

/// How far the redo log is written, flushed and applied to tablespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lsn {
    pub current: u64,
    pub flushed: u64,
    pub checkpoint: u64,
}

/// `None`: an older version that does not tell.
pub fn lsn(client: &mut Client) -> Result<Option<Lsn>, NetError> {
    let rows = client.query("SHOW GLOBAL STATUS LIKE 'Innodb%lsn%'")?;
    let of = |names: [&str; 2]| {
        rows.iter().find_map(|row| {
            let name = row.at(0)?;
            let is_it = names.iter().any(|one| name.eq_ignore_ascii_case(one));
            is_it.then(|| row.at(1)?.parse::<u64>().ok()).flatten()
        })
    };
    let current = of(["Innodb_lsn_current", "Innodb_redo_log_current_lsn"]);
    let flushed = of(["Innodb_lsn_flushed", "Innodb_redo_log_flushed_to_disk_lsn"]);
    let checkpoint = of(["Innodb_lsn_last_checkpoint", "Innodb_redo_log_checkpoint_lsn"]);
    Ok(match (current, flushed, checkpoint) {
        (Some(current), Some(flushed), Some(checkpoint)) => Some(Lsn { current, flushed, checkpoint }),
        _ => None,
    })
}

pub fn is_sleeping(client: &mut Client, id: u64) -> Result<bool, String> {
    let sql = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
    let rows = client.query(&sql).map_err(|error| error.in_one_line())?;
    Ok(rows.scalar().is_some_and(|state| state == "User sleep"))
}

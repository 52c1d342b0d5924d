//! The tables of the workloads: sysbench 1.0's, in a schema that sealion made and marked.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use net::{Client, ConnectOptions, Connector, NetError};

use super::random::{C_BYTES, Distribution, PAD_BYTES, fill_digits};

/// Where tables are made when nothing else is said.
pub const SCHEMA: &str = "sealion_bench";
/// A table with this name says that the schema may be written to and dropped.
pub const MARK: &str = "made_by_sealion";
/// Of one INSERT: well under the usual `max_allowed_packet`.
const INSERT_BYTES: usize = 512 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    #[error(
        "the schema {schema} was not created by sealion, so {} it\n  why:  it has no table {MARK}; tables of \
         others, also of sysbench, are only read\n  next: {}",
        if *is_load { "nothing is written to" } else { "sealion neither fills nor drops" },
        if *is_load {
            "create another one: sealion bench prepare --database sealion_bench; or allow a load to write to this \
             one: --own-tables (sealion bench sysbench --own-tables -- …)"
        } else {
            "use a schema with another name (--database sealion_bench), or drop this one yourself"
        }
    )]
    NotOurs { schema: String, is_load: bool },
    #[error(
        "invalid schema name {schema:?}\n  why:  allowed are 1 to 64 letters, digits and _\n  next: choose another \
         with --database"
    )]
    Name { schema: String },
    #[error(transparent)]
    Unreached(NetError),
    #[error(
        "{what}\n  why:  {}\n  next: check that the account may create and write tables in that schema",
        error.in_one_line()
    )]
    Sql { what: String, error: NetError },
    #[error("interrupted\n  why:  Ctrl-C\n  next: sealion bench cleanup, or prepare again")]
    Stopped,
}

/// Which tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of sysbench's OLTP scripts, filled.
    Oltp,
    /// Of its `bulk_insert`, empty.
    Bulk,
}

/// What `prepare` makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub kind: Kind,
    pub schema: String,
    pub tables: u32,
    pub table_size: u32,
    pub secondary_index: bool,
    pub engine: String,
    pub seed: u64,
    /// Tables that are filled at once.
    pub threads: u32,
}

/// A name that needs no quotes.
///
/// # Errors
/// For any other.
pub fn check_name(schema: &str) -> Result<(), TablesError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !schema.is_empty() && schema.len() <= 64 && schema.bytes().all(is_plain) {
        return Ok(());
    }
    Err(TablesError::Name { schema: schema.to_owned() })
}

fn run(client: &mut Client, what: &str, sql: &str) -> Result<(), TablesError> {
    match client.execute(sql) {
        Ok(_) => Ok(()),
        Err(error) => Err(TablesError::Sql { what: what.to_owned(), error }),
    }
}

fn names(client: &mut Client, sql: &str) -> Result<Vec<String>, TablesError> {
    let rows = client
        .query(sql)
        .map_err(|error| TablesError::Sql { what: "cannot read the schema".into(), error })?;
    Ok(rows
        .rows
        .into_iter()
        .filter_map(|row| row.into_iter().next().flatten())
        .map(|name| String::from_utf8_lossy(&name).into_owned())
        .collect())
}

/// Is it ours? `None`: it is not there.
///
/// # Errors
/// When it cannot be asked.
pub fn is_ours(client: &mut Client, schema: &str) -> Result<Option<bool>, TablesError> {
    check_name(schema)?;
    let of = |table: &str, column: &str| {
        format!("SELECT {column} FROM information_schema.{table} WHERE {column}='{schema}'")
    };
    if names(client, &of("SCHEMATA", "SCHEMA_NAME"))?.is_empty() {
        return Ok(None);
    }
    let mark = format!("{} AND TABLE_NAME='{MARK}'", of("TABLES", "TABLE_SCHEMA"));
    Ok(Some(!names(client, &mark)?.is_empty()))
}

/// Makes and fills `sbtest1` and its kin; those that are there are made anew. `progress` is told rows so far.
///
/// # Errors
/// A schema that is not ours; what the server refuses.
pub fn prepare(
    options: &ConnectOptions,
    plan: &Plan,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), TablesError> {
    let connect = || {
        let connector = Connector::new(ConnectOptions { database: None, ..options.clone() });
        connector.and_then(|connector| connector.connect()).map_err(TablesError::Unreached)
    };
    let schema = &plan.schema;
    let mut client = connect()?;
    match is_ours(&mut client, schema)? {
        Some(true) => {}
        Some(false) => return Err(TablesError::NotOurs { schema: schema.clone(), is_load: false }),
        None => {
            run(&mut client, "cannot create the schema", &format!("CREATE DATABASE {schema}"))?;
            run(
                &mut client,
                "cannot mark the schema",
                &format!("CREATE TABLE {schema}.{MARK} (note VARCHAR(80) NOT NULL PRIMARY KEY)"),
            )?;
            run(
                &mut client,
                "cannot mark the schema",
                &format!("INSERT INTO {schema}.{MARK} VALUES ('for sealion bench; may be dropped')"),
            )?;
        }
    }
    let next = AtomicU32::new(1);
    let fault = Mutex::new(None);
    let rows = std::sync::atomic::AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..plan.threads.clamp(1, plan.tables.max(1)) {
            scope.spawn(|| {
                let one = || -> Result<(), TablesError> {
                    let mut client = connect()?;
                    loop {
                        let table = next.fetch_add(1, Ordering::Relaxed);
                        if table > plan.tables {
                            return Ok(());
                        }
                        let told = |count: u64| progress(rows.fetch_add(count, Ordering::Relaxed) + count);
                        table_of(&mut client, plan, table, stop, &told)?;
                    }
                };
                if let Err(error) = one() {
                    next.store(u32::MAX / 2, Ordering::Relaxed);
                    fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            });
        }
    });
    fault.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn table_of(
    client: &mut Client,
    plan: &Plan,
    table: u32,
    stop: &AtomicBool,
    told: &dyn Fn(u64),
) -> Result<(), TablesError> {
    let name = format!("{}.sbtest{table}", plan.schema);
    let making = format!("cannot create the table {name}");
    run(client, &making, &format!("DROP TABLE IF EXISTS {name}"))?;
    let engine = if plan.engine.is_empty() { String::new() } else { format!(" ENGINE={}", plan.engine) };
    let columns = match plan.kind {
        Kind::Oltp => {
            "id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL"
        }
        Kind::Bulk => "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL",
    };
    run(client, &making, &format!("CREATE TABLE {name} ({columns}, PRIMARY KEY (id)){engine}"))?;
    if plan.kind == Kind::Bulk {
        return Ok(());
    }
    // The same rows for the same seed, on whatever machine.
    let mut random = fastrand::Rng::with_seed(plan.seed.wrapping_add(u64::from(table)));
    let distribution = Distribution::default();
    let filling = format!("cannot fill the table {name}");
    let head = format!("INSERT INTO {name} (k, c, pad) VALUES ");
    let mut sql = head.clone().into_bytes();
    let mut count = 0;
    for row in 1..=plan.table_size {
        let (mut c, mut pad) = ([0; C_BYTES], [0; PAD_BYTES]);
        let k = distribution.draw(&mut random, 1, plan.table_size);
        fill_digits(&mut random, &mut c);
        fill_digits(&mut random, &mut pad);
        let comma = if count > 0 { "," } else { "" };
        // Writing into a Vec cannot fail.
        let _ = write!(sql, "{comma}({k},'");
        sql.extend_from_slice(&c);
        sql.extend_from_slice(b"','");
        sql.extend_from_slice(&pad);
        sql.extend_from_slice(b"')");
        count += 1;
        if sql.len() >= INSERT_BYTES || row == plan.table_size {
            if stop.load(Ordering::Relaxed) {
                return Err(TablesError::Stopped);
            }
            run(client, &filling, &String::from_utf8_lossy(&sql))?;
            told(count);
            count = 0;
            sql.truncate(head.len());
        }
    }
    if plan.secondary_index {
        run(client, &making, &format!("CREATE INDEX k_{table} ON {name} (k)"))?;
    }
    Ok(())
}

/// Drops the schema, if it is ours. False: it is not there.
///
/// # Errors
/// It is somebody else's; what the server refuses.
pub fn cleanup(client: &mut Client, schema: &str) -> Result<bool, TablesError> {
    match is_ours(client, schema)? {
        None => Ok(false),
        Some(false) => Err(TablesError::NotOurs { schema: schema.to_owned(), is_load: false }),
        Some(true) => {
            run(client, "cannot drop the schema", &format!("DROP DATABASE {schema}")).map(|()| true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_need_quotes_are_refused() {
        for good in ["sbtest", "sealion_bench", "A9"] {
            check_name(good).expect("a name");
        }
        for bad in ["", "a b", "x;drop", "ä", "a'b", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}

//! What is there, and what speaks against a migration.

use std::collections::BTreeMap;

use model::{Clock, SystemClock};
use net::sql_text::{name, text};
use net::{Client, NetError, Rows};
use server::{Capabilities, Flavour};

use crate::{End, Ends};

/// Why it is not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    pub why: String,
    pub next: String,
}

impl Problem {
    fn new(what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), next: next.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n  why:  {}\n  next: {}", self.what, self.why, self.next)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub schema: String,
    pub name: String,
    /// In order; generated ones are computed again on the target.
    pub columns: Vec<Column>,
    /// Of its primary key; empty: it has none.
    pub key: Vec<String>,
    /// As the source tells them; for progress only.
    pub data_bytes: u64,
}

impl Table {
    /// `` `schema`.`table` ``
    pub fn quoted(&self) -> String {
        format!("{}.{}", name(&self.schema), name(&self.name))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub form: Form,
}

/// What a column must be read as, so that the bytes that come can be written as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    AsItIs,
    /// Its text has six digits, and would come back as another number.
    Float,
    /// Its text is taken only with a character set; so many bytes are taken always.
    Bytes(u8),
}

impl Form {
    /// Of `information_schema.COLUMNS.DATA_TYPE`.
    fn of(data_type: &str) -> Self {
        match data_type.to_ascii_lowercase().as_str() {
            "float" => Self::Float,
            "uuid" | "inet6" => Self::Bytes(16),
            "inet4" => Self::Bytes(4),
            _ => Self::AsItIs,
        }
    }
}

impl Column {
    /// As it is read, so that it can be written again as the same.
    pub fn read_as(&self) -> String {
        let name = name(&self.name);
        match self.form {
            Form::AsItIs => name,
            Form::Float => format!("CAST({name} AS DOUBLE)"),
            Form::Bytes(bytes) => format!("CAST({name} AS BINARY({bytes}))"),
        }
    }
}

/// One server, as far as it matters.
pub struct Server {
    pub version: String,
    pub capabilities: Capabilities,
    variables: BTreeMap<String, String>,
}

impl Server {
    pub fn of(client: &mut Client) -> Result<Self, NetError> {
        let rows = client.query("SHOW GLOBAL VARIABLES")?;
        let pair = |row: net::RowRef<'_>| Some((row.at(0)?.to_ascii_lowercase(), row.at(1)?.into_owned()));
        let variables: BTreeMap<String, String> = rows.iter().filter_map(pair).collect();
        let get = |key: &str| variables.get(key).map(String::as_str).unwrap_or_default();
        let capabilities = Capabilities::of(get("version"), get("version_comment"), false);
        Ok(Self { version: get("version").to_owned(), capabilities, variables })
    }

    pub fn variable(&self, key: &str) -> &str {
        self.variables.get(key).map(String::as_str).unwrap_or_default()
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| text(name)).collect::<Vec<_>>().join(",")
}

/// The tables of these schemas, largest first.
pub fn tables(client: &mut Client, schemas: &[String]) -> Result<Vec<Table>, NetError> {
    let within = list(schemas);
    let rows = client.query(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(DATA_LENGTH, 0) FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA IN ({within}) AND TABLE_TYPE = 'BASE TABLE' ORDER BY 3 DESC, 1, 2"
    ))?;
    let mut all: Vec<Table> = rows
        .iter()
        .filter_map(|row| {
            Some(Table {
                schema: row.at(0)?.into_owned(),
                name: row.at(1)?.into_owned(),
                columns: Vec::new(),
                key: Vec::new(),
                data_bytes: row.at(2)?.parse().unwrap_or(0),
            })
        })
        .collect();
    let rows = client.query(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA IN ({within}) AND COALESCE(IS_GENERATED, 'NEVER') = 'NEVER' ORDER BY 1, 2, ORDINAL_POSITION"
    ))?;
    let mut columns: BTreeMap<(String, String), Vec<Column>> = BTreeMap::new();
    for row in rows.iter() {
        let cell = |at| row.at(at).map(std::borrow::Cow::into_owned);
        if let (Some(schema), Some(table), Some(name), Some(kind)) = (cell(0), cell(1), cell(2), cell(3)) {
            let form = Form::of(&kind);
            columns.entry((schema, table)).or_default().push(Column { name, form });
        }
    }
    let rows = client.query(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA IN ({within}) AND INDEX_NAME = 'PRIMARY' ORDER BY 1, 2, SEQ_IN_INDEX"
    ))?;
    let mut keys: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for row in rows.iter() {
        let cell = |at| row.at(at).map(std::borrow::Cow::into_owned);
        if let (Some(schema), Some(table), Some(column)) = (cell(0), cell(1), cell(2)) {
            keys.entry((schema, table)).or_default().push(column);
        }
    }
    for table in &mut all {
        table.key = keys.remove(&(table.schema.clone(), table.name.clone())).unwrap_or_default();
        table.columns = columns.remove(&(table.schema.clone(), table.name.clone())).unwrap_or_default();
    }
    Ok(all)
}

/// Accounts that a read-only server lets write.
///
/// # Source
/// MariaDB manual, read_only: READ_ONLY ADMIN from 10.5.2 on; SUPER before 10.11.
pub fn writers_all_the_same(source: &mut Client) -> Result<Vec<String>, NetError> {
    let rows = source.query(
        "SELECT DISTINCT GRANTEE FROM information_schema.USER_PRIVILEGES \
         WHERE PRIVILEGE_TYPE IN ('SUPER', 'READ_ONLY ADMIN', 'READ ONLY ADMIN') ORDER BY 1",
    )?;
    Ok(rows.iter().filter_map(|row| row.at(0)).map(std::borrow::Cow::into_owned).collect())
}

/// What a schema of the target says of who made it.
pub fn mark(plan_id: &str) -> String {
    format!("made by sealion migrate, {plan_id}")
}

/// A lock of a name that nobody else has, taken on one and asked for on the other: host names, ports and directories can be alike on two
/// machines. It ends with our session. `None`: the lock could not be taken.
///
/// # Source
/// MariaDB manual, GET_LOCK, IS_USED_LOCK.
fn are_one_server(source: &mut Client, target: &mut Client) -> Result<Option<bool>, NetError> {
    let lock = text(&format!("sealion {} {}", std::process::id(), SystemClock.unix_ms()));
    let is_taken = source.query(&format!("SELECT GET_LOCK({lock}, 0)"))?.scalar().as_deref() == Some("1");
    let is_held =
        target.query(&format!("SELECT IS_USED_LOCK({lock}) IS NOT NULL"))?.scalar().as_deref() == Some("1");
    source.query(&format!("SELECT RELEASE_LOCK({lock})"))?;
    Ok(is_taken.then_some(is_held))
}

/// Everything that speaks against it, worst first as it is listed.
pub fn problems(ends: &Ends, source: &mut Client, target: &mut Client) -> Result<Vec<Problem>, NetError> {
    let (from, to) = (Server::of(source)?, Server::of(target)?);
    // Nothing else is said then: every other advice would be about the server that is to be kept.
    match are_one_server(source, target)? {
        Some(false) => {}
        Some(true) => {
            return Ok(vec![Problem::new(
                "source and target are the same server",
                format!(
                    "a lock that was taken on the source is held on the target ({})",
                    to.variable("hostname")
                ),
                "name another server with --to",
            )]);
        }
        None => {
            return Ok(vec![Problem::new(
                "whether source and target are the same server cannot be determined",
                "the source does not give a user lock (GET_LOCK)",
                "try again, or choose another server",
            )]);
        }
    }
    let mut all = Vec::new();
    for (end, server, client) in [(End::Source, &from, &*source), (End::Target, &to, &*target)] {
        if server.capabilities.flavour != Flavour::MariaDb || server.capabilities.version < (10, 5, 0) {
            all.push(Problem::new(
                format!("the {end} is {}", server.version),
                "this version of sealion migrates between MariaDB servers of version 10.5 or newer",
                "copy it with its own tools",
            ));
        }
        let options = if end == End::Source { &ends.source } else { &ends.target };
        let is_local = options.endpoint.is_unix_socket();
        let is_verified = options.tls.mode.verifies_chain() && client.tls().is_some();
        if !is_local && !is_verified {
            all.push(Problem::new(
                format!("the connection to the {end} is not verified TLS"),
                "every row passes over it",
                "set ssl-mode=VERIFY_IDENTITY (or VERIFY_CA) and ssl-ca in its option file",
            ));
        }
    }
    if from.capabilities.version > to.capabilities.version {
        all.push(Problem::new(
            format!("the target ({}) is older than the source ({})", to.version, from.version),
            "an older server does not understand all of a newer one's binary log",
            "migrate to the same version or a newer one",
        ));
    }
    let want = |all: &mut Vec<Problem>, is_so: bool, what: &str, why: &str, next: &str| {
        if !is_so {
            all.push(Problem::new(what, why, next));
        }
    };
    let is_on = |server: &Server, key: &str| matches!(server.variable(key), "ON" | "1");
    want(
        &mut all,
        is_on(&from, "log_bin"),
        "the source writes no binary log",
        "what is written during the copy would be lost",
        "log_bin=ON in the [mysqld] group of its option file, then restart",
    );
    want(
        &mut all,
        from.variable("server_id") != to.variable("server_id"),
        "source and target have the same server_id",
        "a server ignores events that carry its own server_id",
        "give the target another server_id",
    );
    want(
        &mut all,
        from.variable("lower_case_table_names") == to.variable("lower_case_table_names"),
        "lower_case_table_names differs",
        "two tables of the source could be one on the target",
        "set up the target with the value of the source",
    );
    want(
        &mut all,
        is_on(&to, "local_infile"),
        "the target does not accept LOAD DATA LOCAL",
        "local_infile is OFF, and rows are loaded that way",
        "SET GLOBAL local_infile = ON on the target for the time of the migration",
    );
    let is_encrypted = matches!(to.variable("innodb_encrypt_tables"), "ON" | "FORCE");
    let encrypted = encrypted_tables(source, &ends.schemas)?;
    want(
        &mut all,
        is_encrypted || (from.variable("innodb_encrypt_tables") == "OFF" && encrypted == 0),
        "tables would lose their encryption",
        "tables are encrypted on the source, and innodb_encrypt_tables is OFF on the target",
        "enable encryption of tables on the target first (innodb_encrypt_tables=FORCE)",
    );
    for (key, what) in [("innodb_encrypt_log", "the redo log"), ("encrypt_binlog", "the binary log")] {
        want(
            &mut all,
            !is_on(&from, key) || is_on(&to, key),
            &format!("{what} would lose its encryption, and rows lie in it"),
            &format!("{key} is ON on the source and OFF on the target"),
            &format!("{key}=ON in the option file of the target, then restart"),
        );
    }
    let channels = source.query("SHOW ALL SLAVES STATUS")?;
    want(
        &mut all,
        channels.is_empty() && !is_on(&from, "wsrep_on"),
        "the source gets writes of its own from others",
        "it is a replica or a node of Galera, which read_only does not stop: what came so would be missing on the target",
        "migrate from the server that applications write to, or end its replication first",
    );
    let log = source.query("SHOW MASTER STATUS")?;
    let filter = |column: &str| log.text(0, column).is_none_or(|text| text.is_empty());
    want(
        &mut all,
        filter("Binlog_Do_DB") && filter("Binlog_Ignore_DB"),
        "the binary log of the source is filtered",
        "binlog_do_db or binlog_ignore_db leaves writes out of it",
        "remove them from its option file, then restart",
    );
    want(
        &mut all,
        to.variable("slave_skip_errors") == "OFF",
        "the target passes over errors of replication",
        "slave_skip_errors is not OFF, so that rows can be missing without a word",
        "remove it from its option file, then restart",
    );
    want(
        &mut all,
        source.query("XA RECOVER")?.is_empty(),
        "the source has prepared XA transactions",
        "they are in no snapshot, and cannot be committed while the source is read-only",
        "commit them or roll them back",
    );
    let channels = target.query("SHOW ALL SLAVES STATUS")?;
    want(
        &mut all,
        channels.is_empty(),
        "the target is a replica already",
        "its channel would write to the same server",
        "choose a target without replication, or RESET SLAVE ALL there",
    );
    want(
        &mut all,
        to.variable("gtid_slave_pos").is_empty(),
        "the target has followed a source before",
        "gtid_slave_pos is not empty, and would be overwritten",
        "choose another target, or if that position is of no use any more, there: SET GLOBAL gtid_slave_pos = ''",
    );
    want(
        &mut all,
        to.variable("replicate_wild_do_table").is_empty() && to.variable("replicate_do_db").is_empty(),
        "the target has filters of replication",
        "replicate_do_db or replicate_wild_do_table is set, and would be overwritten or hide writes",
        "remove them from its option file, then restart",
    );
    want(
        &mut all,
        ends.back.is_none() || is_on(&to, "log_bin"),
        "the target writes no binary log",
        "after the cutover the source could not follow it, and nothing could be taken back",
        "log_bin=ON in the [mysqld] group of its option file, then restart; or --no-way-back",
    );
    want(
        &mut all,
        ends.back.is_none()
            || (from.variable("replicate_wild_do_table").is_empty()
                && from.variable("replicate_do_db").is_empty()),
        "the source has filters of replication",
        "replicate_do_db or replicate_wild_do_table is set, and would be overwritten or hide writes once it follows the target",
        "remove them from its option file, then restart; or --no-way-back",
    );
    if let Some(odd) = ends.schemas.iter().find(|schema| schema.contains(',')) {
        all.push(Problem::new(
            format!("the schema {odd} has a comma in its name"),
            "a filter of replication cannot name it",
            "rename it, or leave it out",
        ));
    }
    of_schemas(ends, source, target, &mut all)?;
    Ok(all)
}

/// How many tables of these schemas are encrypted now, whatever the variable says.
fn encrypted_tables(source: &mut Client, schemas: &[String]) -> Result<u64, NetError> {
    let mut count = 0;
    for schema in schemas {
        // Source: MariaDB manual, INNODB_TABLESPACES_ENCRYPTION: NAME is `schema/table`.
        let rows = source.query(&format!(
            "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION \
             WHERE ENCRYPTION_SCHEME <> 0 AND SUBSTRING_INDEX(NAME, '/', 1) = {}",
            text(schema)
        ))?;
        count += rows.scalar().and_then(|text| text.parse().ok()).unwrap_or(0);
    }
    Ok(count)
}

fn named(rows: &Rows) -> Vec<String> {
    rows.iter().filter_map(|row| row.at(0)).map(std::borrow::Cow::into_owned).collect()
}

/// Of the source's account: without these, triggers and events are not shown to it.
fn blind(source: &mut Client, schemas: &[String]) -> Result<Vec<&'static str>, NetError> {
    let mut lacking = Vec::new();
    let grantee = "CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";
    for privilege in ["TRIGGER", "EVENT", "SHOW VIEW"] {
        let rows = source.query(&format!(
            "SELECT (SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = '{privilege}' AND GRANTEE = \
             {grantee}) > 0 OR (SELECT COUNT(DISTINCT TABLE_SCHEMA) FROM information_schema.SCHEMA_PRIVILEGES \
             WHERE PRIVILEGE_TYPE = '{privilege}' AND GRANTEE = {grantee} AND TABLE_SCHEMA IN ({})) = {}",
            list(schemas),
            schemas.len()
        ))?;
        if rows.scalar().as_deref() != Some("1") {
            lacking.push(privilege);
        }
    }
    Ok(lacking)
}

fn of_schemas(
    ends: &Ends,
    source: &mut Client,
    target: &mut Client,
    all: &mut Vec<Problem>,
) -> Result<(), NetError> {
    let within = list(&ends.schemas);
    let lacking = blind(source, &ends.schemas)?;
    if !lacking.is_empty() {
        all.push(Problem::new(
            format!("the account of the source lacks {}", lacking.join(", ")),
            "views, triggers or events could be there, and it is not shown them",
            format!("GRANT {} ON *.* to it", lacking.join(", ")),
        ));
    }
    let there = named(&source.query(&format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within})"
    ))?);
    for schema in ends.schemas.iter().filter(|schema| !there.contains(schema)) {
        all.push(Problem::new(
            format!("the source has no schema {schema}, or it cannot be seen"),
            "SHOW DATABASES does not list it for this account",
            "check the name, and the privileges of the account",
        ));
    }
    let taken = named(&target.query(&format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within})"
    ))?);
    if !taken.is_empty() {
        all.push(Problem::new(
            format!("the target has {} already", taken.join(", ")),
            "nothing that is there is overwritten",
            "if a migration that is not finished made it: sealion migrate rollback; else choose another target, or move that schema away there",
        ));
    }
    all.extend(cannot_move(source, &ends.schemas)?);
    Ok(())
}

/// What is in these schemas and would not be on the target.
pub fn cannot_move(source: &mut Client, schemas: &[String]) -> Result<Vec<Problem>, NetError> {
    let mut all = Vec::new();
    let within = list(schemas);
    let engines = source.query(&format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', COALESCE(ENGINE, TABLE_TYPE), ')') FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA IN ({within}) AND TABLE_TYPE <> 'VIEW' \
         AND (ENGINE IS NULL OR ENGINE <> 'InnoDB' OR TABLE_TYPE <> 'BASE TABLE')"
    ))?;
    refuse_some(
        &mut all,
        &named(&engines),
        "tables that are not plain InnoDB",
        "they have no place in a consistent snapshot",
        "convert them (ALTER TABLE … ENGINE=InnoDB), or leave their schema out",
    );
    let code = source.query(&format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (view)') FROM information_schema.VIEWS WHERE TABLE_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(TRIGGER_SCHEMA, '.', TRIGGER_NAME, ' (trigger)') FROM information_schema.TRIGGERS \
         WHERE TRIGGER_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(ROUTINE_SCHEMA, '.', ROUTINE_NAME, ' (routine)') FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(EVENT_SCHEMA, '.', EVENT_NAME, ' (event)') FROM information_schema.EVENTS \
         WHERE EVENT_SCHEMA IN ({within})"
    ))?;
    refuse_some(
        &mut all,
        &named(&code),
        "views, triggers, routines or events",
        "this version of sealion copies tables and their rows only, and would lose them",
        "migrate them by hand (mariadb-dump --no-data --routines --events --triggers), after dropping them here for the time being, \
         or leave their schema out",
    );
    let foreign = source.query(&format!(
        "SELECT CONCAT(CONSTRAINT_SCHEMA, '.', TABLE_NAME, ' (', UNIQUE_CONSTRAINT_SCHEMA, '.', REFERENCED_TABLE_NAME, ')') \
         FROM information_schema.REFERENTIAL_CONSTRAINTS \
         WHERE CONSTRAINT_SCHEMA IN ({within}) AND UNIQUE_CONSTRAINT_SCHEMA NOT IN ({within})"
    ))?;
    refuse_some(
        &mut all,
        &named(&foreign),
        "foreign keys to schemas that are not migrated",
        "the tables that they refer to would not be on the target",
        "migrate those schemas too: --schemas",
    );
    Ok(all)
}

fn refuse_some(all: &mut Vec<Problem>, found: &[String], what: &str, why: &str, next: &str) {
    const NAMED_MAX: usize = 5;
    if let Some(some) = found.get(..found.len().min(NAMED_MAX)).filter(|some| !some.is_empty()) {
        let more = found.len() - some.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        all.push(Problem::new(format!("there are {what}: {}{more}", some.join(", ")), why, next));
    }
}

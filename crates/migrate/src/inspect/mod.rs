//! What is there, and what speaks against a migration.

mod code;
mod mysql;
mod schemas;
mod servers;

use std::collections::{BTreeMap, BTreeSet};

use net::sql_text::{name, text};
use net::{Client, NetError, Rows};
use server::{Capabilities, Flavour};

pub(crate) use mysql::shape;
pub use schemas::cannot_move;
pub(crate) use schemas::of_both;
pub use servers::problems;

use crate::dialect;

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
    /// Generated ones that are stored: each server has computed them by itself.
    pub stored: Vec<Column>,
    /// Of its primary key; empty: it has none.
    pub key: Vec<String>,
    /// The first column of its primary key, where that is a whole number.
    pub cut_by: Option<String>,
    /// As the source tells them; for progress only.
    pub data_bytes: u64,
}

impl Table {
    /// What both sides must have alike.
    pub fn compared(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().chain(&self.stored)
    }

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
    /// As it is; one number has several texts.
    Double,
    /// As it is; it can be longer than what a function may return.
    Long,
    /// As it is; `''` can be a member, or none.
    Enum,
    /// Its text is taken only with a character set; so many bytes are taken always.
    Bytes(u8),
}

impl Form {
    /// Of `information_schema.COLUMNS.DATA_TYPE`.
    fn of(data_type: &str) -> Self {
        match data_type.to_ascii_lowercase().as_str() {
            "float" => Self::Float,
            "double" => Self::Double,
            "enum" => Self::Enum,
            "json" => Self::Long,
            long if long.ends_with("text") || long.ends_with("blob") => Self::Long,
            "uuid" | "inet6" => Self::Bytes(16),
            "inet4" => Self::Bytes(4),
            _ => Self::AsItIs,
        }
    }
}

impl Column {
    /// As it is compared.
    pub fn compared_as(&self) -> String {
        match self.form {
            // Source: both manuals, The ENUM Type: the number of the member, 0 for a value that is none.
            Form::Enum => format!("({} + 0)", name(&self.name)),
            _ => self.read_as(),
        }
    }

    /// As it is read, so that it can be written again as the same.
    pub fn read_as(&self) -> String {
        let name = name(&self.name);
        match self.form {
            Form::AsItIs | Form::Double | Form::Long | Form::Enum => name,
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

    /// `MariaDB 11.8.9`
    pub fn named(&self) -> String {
        let version = self.version.split('-').next().unwrap_or_default();
        format!("{} {version}", self.capabilities.flavour)
    }

    pub fn is_mariadb(&self) -> bool {
        self.capabilities.flavour == Flavour::MariaDb
    }

    pub fn is_on(&self, key: &str) -> bool {
        matches!(self.variable(key), "ON" | "1")
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
                stored: Vec::new(),
                key: Vec::new(),
                cut_by: None,
                data_bytes: row.at(2)?.parse().unwrap_or(0),
            })
        })
        .collect();
    let rows = client.query(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COALESCE(GENERATION_EXPRESSION, '') = '' \
         FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN ({within}) \
         AND (COALESCE(GENERATION_EXPRESSION, '') = '' OR EXTRA LIKE '%STORED%') ORDER BY 1, 2, ORDINAL_POSITION"
    ))?;
    let mut columns: [BTreeMap<(String, String), Vec<Column>>; 2] = Default::default();
    let mut whole_numbers = BTreeSet::new();
    for row in rows.iter() {
        let cell = |at| row.at(at).map(std::borrow::Cow::into_owned);
        if let (Some(schema), Some(table), Some(name), Some(kind)) = (cell(0), cell(1), cell(2), cell(3)) {
            let form = Form::of(&kind);
            // Source: both manuals, Integer Types.
            if kind.to_ascii_lowercase().ends_with("int") {
                whole_numbers.insert((schema.clone(), table.clone(), name.clone()));
            }
            let [given, stored] = &mut columns;
            let of = if cell(4).as_deref() == Some("1") { given } else { stored };
            of.entry((schema, table)).or_default().push(Column { name, form });
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
        let of_table = (table.schema.clone(), table.name.clone());
        let [given, stored] = &mut columns;
        table.columns = given.remove(&of_table).unwrap_or_default();
        table.stored = stored.remove(&of_table).unwrap_or_default();
        let named = |column: &String| (table.schema.clone(), table.name.clone(), column.clone());
        table.cut_by = table.key.first().filter(|first| whole_numbers.contains(&named(first))).cloned();
    }
    Ok(all)
}

/// Accounts that a read-only server lets write.
///
/// # Source
/// MariaDB manual, read_only: READ_ONLY ADMIN from 10.5.2 on; SUPER before 10.11. MySQL manual, super_read_only: nobody.
pub fn writers_all_the_same(source: &mut Client) -> Result<Vec<String>, NetError> {
    if dialect::is_mysql(source) {
        return Ok(Vec::new());
    }
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

fn named(rows: &Rows) -> Vec<String> {
    rows.iter().filter_map(|row| row.at(0)).map(std::borrow::Cow::into_owned).collect()
}

fn refuse_some(all: &mut Vec<Problem>, found: &[String], what: &str, why: &str, next: &str) {
    const NAMED_MAX: usize = 5;
    if let Some(some) = found.get(..found.len().min(NAMED_MAX)).filter(|some| !some.is_empty()) {
        let more = found.len() - some.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        all.push(Problem::new(format!("there are {what}: {}{more}", some.join(", ")), why, next));
    }
}

//! Whether a table holds the same rows on both sides.

mod by_us;

use std::collections::{BTreeMap, BTreeSet};

use net::Client;
use net::sql_text::{name, text};

use crate::End;
use crate::inspect::{Column, Form, Table};

/// Rows of a table that differs are looked for in so many parts of it, by the first digits of a hash of their keys.
const DIGITS: usize = 3;
/// Of the parts that differ, so many are read row by row.
const PARTS_READ: usize = 16;
/// More are not held in memory; some 244 are in each part of a million rows.
const ROWS_READ: usize = 1_000_000;
const NAMED_MAX: usize = 10;
/// Of a key that is long.
const KEY_CHARS: usize = 60;

/// Who hashes the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Each server its own: no row is sent. For servers that say the same in the same text.
    Servers,
    /// We, of the rows as both send them: a number can have several texts.
    Us,
}

/// Rows, and two sums over a hash of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub rows: u64,
    sums: [String; 2],
}

/// One sum keeps rows that are there twice, which the other, by exclusive or, would not.
const SUMS: &str = "COUNT(*), COUNT(h), COALESCE(SUM(CAST(CONV(LEFT(h, 15), 16, 10) AS UNSIGNED)), 0), \
                    COALESCE(BIT_XOR(CAST(CONV(RIGHT(h, 15), 16, 10) AS UNSIGNED)), 0)";

/// Made of the hashes of the columns, so that no row is too long for it.
fn hash<'c>(columns: impl Iterator<Item = &'c Column>) -> String {
    let columns: Vec<String> = columns
        .map(|column| {
            let read = column.compared_as();
            // Without a collation: texts are their bytes. What is longer than max_allowed_packet becomes NULL in a CAST, which must not pass
            // for no value.
            let bytes = if column.form == Form::Long { read } else { format!("CAST({read} AS BINARY)") };
            format!("IF({} IS NULL, '-', MD5({bytes}))", name(&column.name))
        })
        .collect();
    if columns.is_empty() { "MD5('')".to_owned() } else { format!("MD5(CONCAT({}))", columns.join(", ")) }
}

fn statement(table: &Table, within: &str) -> String {
    let hash = hash(table.compared());
    let all = name("all rows");
    format!("SELECT {SUMS} FROM (SELECT {hash} AS h FROM {}{within}) AS {all}", table.quoted())
}

/// Of each part, what [`digest`] says of the whole.
fn of_parts(client: &mut Client, table: &Table, by: By) -> Result<BTreeMap<String, Vec<String>>, String> {
    if by == By::Us {
        return by_us::of_parts(client, table);
    }
    let (key, row) = (hash(key_of(table)), hash(table.compared()));
    let rows = client
        .query(&format!(
            "SELECT p, {SUMS} FROM (SELECT LEFT({key}, {DIGITS}) AS p, {row} AS h FROM {}) AS {} GROUP BY p",
            table.quoted(),
            name("all rows")
        ))
        .map_err(|error| error.in_one_line())?;
    let cell = |row: net::RowRef<'_>, at| row.at(at).unwrap_or_default().into_owned();
    Ok(rows.iter().map(|row| (cell(row, 0), (1..=4).map(|at| cell(row, at)).collect())).collect())
}

/// A generated column has no place in it: it is computed from the others.
fn key_of(table: &Table) -> impl Iterator<Item = &Column> {
    table.columns.iter().filter(|column| table.key.contains(&column.name))
}

fn too_many() -> String {
    format!("more than {ROWS_READ} rows are in the parts that differ")
}

/// Part of a key, as people read it.
fn readable(bytes: Option<&[u8]>) -> String {
    match bytes.map(std::str::from_utf8) {
        Some(Ok(text)) if !text.chars().any(char::is_control) => text.chars().take(KEY_CHARS).collect(),
        _ => format!("0x{}", model::hex(bytes.unwrap_or_default())).chars().take(KEY_CHARS).collect(),
    }
}

/// The rows of these parts: key as people read it, hash.
fn of_rows(
    client: &mut Client,
    table: &Table,
    parts: &[&String],
    by: By,
) -> Result<BTreeMap<String, String>, String> {
    if by == By::Us {
        return by_us::of_rows(client, table, parts);
    }
    let (key, row) = (hash(key_of(table)), hash(table.compared()));
    let shown: Vec<String> = key_of(table).map(Column::read_as).collect();
    let within: Vec<String> = parts.iter().map(|part| text(part)).collect();
    let rows = client
        .query(&format!(
            "SELECT {row}, {} FROM {} WHERE LEFT({key}, {DIGITS}) IN ({}) LIMIT {}",
            shown.join(", "),
            table.quoted(),
            within.join(","),
            ROWS_READ + 1
        ))
        .map_err(|error| error.in_one_line())?;
    if rows.len() > ROWS_READ {
        return Err(too_many());
    }
    Ok(rows
        .iter()
        .map(|row| {
            let cells = key_of(table).zip(1..);
            let key: Vec<String> =
                cells.map(|(column, at)| format!("{}={}", column.name, readable(row.bytes_at(at)))).collect();
            (key.join(" "), row.at(0).unwrap_or_default().into_owned())
        })
        .collect())
}

/// The keys of the rows that are not the same on both, or are on one only.
///
/// # Errors
/// One of the two cannot be asked.
pub fn differing(
    leader: &mut Client,
    follower: &mut Client,
    table: &Table,
    ends: [End; 2],
    by: By,
) -> Result<String, String> {
    if table.key.is_empty() || key_of(table).count() != table.key.len() {
        return Ok("it has no primary key by which a row could be named".into());
    }
    let (here, there) = (of_parts(leader, table, by)?, of_parts(follower, table, by)?);
    let all: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let differ: Vec<&String> = all.into_iter().filter(|part| here.get(*part) != there.get(*part)).collect();
    let read = differ.get(..differ.len().min(PARTS_READ)).unwrap_or_default();
    let (here, there) = (of_rows(leader, table, read, by)?, of_rows(follower, table, read, by)?);
    let [leader, follower] = ends;
    let keys: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let rows: Vec<String> = keys
        .into_iter()
        .filter_map(|key| match (here.get(key), there.get(key)) {
            (Some(one), Some(other)) if one == other => None,
            (Some(_), Some(_)) => Some(format!("{key} (differs)")),
            (Some(_), None) => Some(format!("{key} (on the {leader} only)")),
            (None, _) => Some(format!("{key} (on the {follower} only)")),
        })
        .collect();
    let named = rows.get(..rows.len().min(NAMED_MAX)).unwrap_or_default().join(", ");
    Ok(match (rows.len() > NAMED_MAX, differ.len() > read.len()) {
        (false, false) => named,
        (true, false) => format!("{named} and {} more", rows.len() - NAMED_MAX),
        (_, true) => format!("{named} and more, in {} of {} parts", differ.len(), 1 << (4 * DIGITS)),
    })
}

/// `within`: a `WHERE`, or nothing.
///
/// # Errors
/// The server cannot be asked, or has a row without a hash.
pub fn digest(client: &mut Client, table: &Table, within: &str, by: By) -> Result<Digest, String> {
    if by == By::Us {
        return by_us::digest(client, table, within);
    }
    let rows = client.query(&statement(table, within)).map_err(|error| error.in_one_line())?;
    let first = rows.first().ok_or("no answer")?;
    let cell = |at: usize| first.at(at).map(std::borrow::Cow::into_owned).unwrap_or_default();
    let count = |at: usize| cell(at).parse::<u64>().map_err(|_| format!("a count is \"{}\"", cell(at)));
    let (all, hashed) = (count(0)?, count(1)?);
    if all != hashed {
        return Err(format!("{} of {all} rows have no hash", all - hashed));
    }
    Ok(Digest { rows: all, sums: [cell(2), cell(3)] })
}

//! Whether a table holds the same rows on both sides.

use net::Client;
use net::sql_text::name;

use crate::inspect::Table;

/// Rows, and two sums over a hash of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub rows: u64,
    sums: [String; 2],
}

/// A row's hash is made of the hashes of its columns, so that no row is too long for it. One sum keeps rows that are there twice, which
/// the other, by exclusive or, would not.
fn statement(table: &Table) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let read = column.read_as();
            // Without a collation: texts are their bytes.
            format!("IFNULL(MD5(CAST({read} AS BINARY)), '-')")
        })
        .collect();
    let hash = if columns.is_empty() {
        "MD5('')".to_owned()
    } else {
        format!("MD5(CONCAT({}))", columns.join(", "))
    };
    format!(
        "SELECT COUNT(*), COUNT(h), COALESCE(SUM(CAST(CONV(LEFT(h, 15), 16, 10) AS UNSIGNED)), 0), \
         COALESCE(BIT_XOR(CAST(CONV(RIGHT(h, 15), 16, 10) AS UNSIGNED)), 0) FROM (SELECT {hash} AS h FROM {}) AS {}",
        table.quoted(),
        name("all rows")
    )
}

/// # Errors
/// The server cannot be asked, or has a row without a hash.
pub fn digest(client: &mut Client, table: &Table) -> Result<Digest, String> {
    let rows = client.query(&statement(table)).map_err(|error| error.in_one_line())?;
    let first = rows.first().ok_or("no answer")?;
    let cell = |at: usize| first.at(at).map(std::borrow::Cow::into_owned).unwrap_or_default();
    let count = |at: usize| cell(at).parse::<u64>().map_err(|_| format!("a count is \"{}\"", cell(at)));
    let (all, hashed) = (count(0)?, count(1)?);
    if all != hashed {
        return Err(format!("{} of {all} rows have no hash", all - hashed));
    }
    Ok(Digest { rows: all, sums: [cell(2), cell(3)] })
}

//! Rows hashed here, for two servers that do not say the same in the same text.

use std::collections::BTreeMap;

use net::Client;
use openssl::sha::Sha256;

use super::{DIGITS, Digest, ROWS_READ, readable, too_many};
use crate::inspect::{Column, Form, Table};

/// Of the first digits of a key's hash.
const PARTS: usize = 1 << (4 * DIGITS);

/// As the servers' own: one sum keeps rows that are there twice, which the other, by exclusive or, would not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    rows: u64,
    sum: u64,
    xor: u64,
}

impl Sums {
    fn add(&mut self, hash: &[u8; 32]) {
        let [first, second] = halves(hash);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(first);
        self.xor ^= second;
    }

    fn joined(mut self, other: &Self) -> Self {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
        self.xor ^= other.xor;
        self
    }
}

fn halves(hash: &[u8; 32]) -> [u64; 2] {
    let eight = |bytes: &[u8]| bytes.iter().take(8).fold(0, |all, byte| (all << 8) | u64::from(*byte));
    let (first, second) = hash.split_at(8);
    [eight(first), eight(second)]
}

/// A cell with its length before it, so that two rows are not one because their cells are cut elsewhere.
fn put(hash: &mut Sha256, column: &Column, cell: Option<&[u8]>) -> Result<(), String> {
    let Some(bytes) = cell else {
        hash.update(&u64::MAX.to_le_bytes());
        return Ok(());
    };
    if !matches!(column.form, Form::Float | Form::Double) {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
        return Ok(());
    }
    let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<f64>().ok());
    let number =
        number.ok_or_else(|| format!("{} has a number that is none: {}", column.name, readable(cell)))?;
    hash.update(&8_u64.to_le_bytes());
    hash.update(&number.to_bits().to_le_bytes());
    Ok(())
}

/// Of a row: its part, and its hash.
fn hashed(table: &Table, cells: &[Option<&[u8]>]) -> Result<(usize, [u8; 32]), String> {
    let (mut row, mut key) = (Sha256::new(), Sha256::new());
    for (column, cell) in table.compared().zip(cells) {
        put(&mut row, column, *cell)?;
        if table.key.contains(&column.name) {
            put(&mut key, column, *cell)?;
        }
    }
    let [first, _] = halves(&key.finish());
    let part = usize::try_from(first % PARTS as u64).unwrap_or_default();
    Ok((part, row.finish()))
}

/// Every row, in the order in which it comes.
fn each(
    client: &mut Client,
    table: &Table,
    within: &str,
    mut take: impl FnMut(&[Option<&[u8]>], usize, &[u8; 32]) -> Result<(), String>,
) -> Result<(), String> {
    let read: Vec<String> = table.compared().map(Column::compared_as).collect();
    let read = if read.is_empty() { "1".to_owned() } else { read.join(", ") };
    let mut broken = None;
    client
        .query_each(&format!("SELECT {read} FROM {}{within}", table.quoted()), |row| {
            if broken.is_some() {
                return;
            }
            let cells: Result<Vec<Option<&[u8]>>, _> = row.collect();
            let taken = cells.map_err(|error| error.to_string()).and_then(|cells| {
                let expected = table.compared().count();
                if expected > 0 && cells.len() != expected {
                    return Err(format!("a row has {} cells instead of {expected}", cells.len()));
                }
                let (part, hash) = hashed(table, &cells)?;
                take(&cells, part, &hash)
            });
            broken = taken.err();
        })
        .map_err(|error| error.in_one_line())?;
    broken.map_or(Ok(()), Err)
}

fn sums(client: &mut Client, table: &Table, within: &str) -> Result<Vec<Sums>, String> {
    let mut parts = vec![Sums::default(); PARTS];
    each(client, table, within, |_, part, hash| {
        if let Some(sums) = parts.get_mut(part) {
            sums.add(hash);
        }
        Ok(())
    })?;
    Ok(parts)
}

pub fn digest(client: &mut Client, table: &Table, within: &str) -> Result<Digest, String> {
    let all = sums(client, table, within)?.iter().fold(Sums::default(), Sums::joined);
    Ok(Digest { rows: all.rows, sums: [all.sum.to_string(), all.xor.to_string()] })
}

fn named(part: usize) -> String {
    format!("{part:0DIGITS$x}")
}

pub fn of_parts(client: &mut Client, table: &Table) -> Result<BTreeMap<String, Vec<String>>, String> {
    let parts = sums(client, table, "")?;
    let told = |sums: &Sums| [sums.rows, sums.sum, sums.xor].iter().map(u64::to_string).collect();
    let filled = parts.iter().enumerate().filter(|(_, sums)| sums.rows > 0);
    Ok(filled.map(|(part, sums)| (named(part), told(sums))).collect())
}

/// The rows of these parts: key as people read it, hash.
pub fn of_rows(
    client: &mut Client,
    table: &Table,
    parts: &[&String],
) -> Result<BTreeMap<String, String>, String> {
    let mut rows = BTreeMap::new();
    each(client, table, "", |cells, part, hash| {
        if !parts.contains(&&named(part)) {
            return Ok(());
        }
        if rows.len() >= ROWS_READ {
            return Err(too_many());
        }
        let shown = table.compared().zip(cells).filter(|(column, _)| table.key.contains(&column.name));
        let key: Vec<String> =
            shown.map(|(column, cell)| format!("{}={}", column.name, readable(*cell))).collect();
        rows.insert(key.join(" "), model::hex(hash));
        Ok(())
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(forms: &[Form]) -> Table {
        let columns = forms
            .iter()
            .enumerate()
            .map(|(at, form)| Column { name: format!("c{at}"), form: *form })
            .collect();
        Table {
            schema: "s".into(),
            name: "t".into(),
            columns,
            stored: vec![],
            key: vec!["c0".into()],
            cut_by: None,
            data_bytes: 0,
        }
    }

    #[test]
    fn a_number_is_one_in_each_of_its_texts_and_a_text_is_not() {
        let numbers = table(&[Form::AsItIs, Form::Double]);
        let hash = |table: &Table, text: &str| hashed(table, &[Some(b"1"), Some(text.as_bytes())]);
        assert_eq!(hash(&numbers, "1e20"), hash(&numbers, "100000000000000000000"));
        assert_ne!(hash(&numbers, "0.1"), hash(&numbers, "0.10000000000000002"));
        assert!(hash(&numbers, "none").is_err());
        let texts = table(&[Form::AsItIs, Form::AsItIs]);
        assert_ne!(hash(&texts, "1e20"), hash(&texts, "100000000000000000000"));
        assert_ne!(hashed(&texts, &[Some(b"1"), None]), hashed(&texts, &[Some(b"1"), Some(b"")]));
        assert_ne!(hashed(&texts, &[Some(b"1"), Some(b"12")]), hashed(&texts, &[Some(b"11"), Some(b"2")]));
    }

    #[test]
    fn a_row_that_is_there_twice_is_two() {
        let (mut once, mut thrice) = (Sums::default(), Sums::default());
        let (_, hash) = hashed(&table(&[Form::AsItIs]), &[Some(b"x")]).expect("a hash");
        once.add(&hash);
        (0..3).for_each(|_| thrice.add(&hash));
        assert_eq!(once.xor, thrice.xor);
        assert_ne!(once.sum, thrice.sum);
    }

    proptest! {
        #[test]
        fn no_cell_panics(cells in proptest::collection::vec(proptest::option::of(any::<Vec<u8>>()), 0..4)) {
            let forms = [Form::AsItIs, Form::Double, Form::Float, Form::Bytes(4)];
            let cells: Vec<Option<&[u8]>> = cells.iter().map(Option::as_deref).collect();
            let _ = hashed(&table(&forms), &cells);
        }
    }
}

//! The rows of a statement, kept whole.

use std::borrow::Cow;

/// What a statement answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rows {
    /// Empty for a statement that has no result set.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub warnings: u16,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Where the column of this name is; letter case does not matter, as in SQL.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    pub fn iter(&self) -> impl Iterator<Item = RowRef<'_>> {
        self.rows.iter().map(|cells| RowRef { rows: self, cells })
    }

    pub fn first(&self) -> Option<RowRef<'_>> {
        self.rows.first().map(|cells| RowRef { rows: self, cells })
    }

    /// The cell of row `row` in the column `name`; `None` is NULL, or no such cell.
    pub fn text(&self, row: usize, name: &str) -> Option<Cow<'_, str>> {
        let cells = self.rows.get(row)?;
        RowRef { rows: self, cells }.text(name)
    }

    /// The first cell of the first row: the answer to `SELECT one_thing`.
    pub fn scalar(&self) -> Option<Cow<'_, str>> {
        self.first()?.at(0)
    }
}

/// One row of [`Rows`].
#[derive(Debug, Clone, Copy)]
pub struct RowRef<'a> {
    rows: &'a Rows,
    cells: &'a [Option<Vec<u8>>],
}

impl<'a> RowRef<'a> {
    /// The cell in the column `name` as text.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.at(self.rows.column_index(name)?)
    }

    /// The cell at `index` as text.
    pub fn at(&self, index: usize) -> Option<Cow<'a, str>> {
        self.bytes_at(index).map(String::from_utf8_lossy)
    }

    /// The cell at `index` as it came.
    pub fn bytes_at(&self, index: usize) -> Option<&'a [u8]> {
        self.cells.get(index)?.as_deref()
    }
}

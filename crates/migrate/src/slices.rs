//! In which parts the tables are copied, and in which order: without I/O.
//!
//! A large table whose primary key begins with a whole number is cut along it, so that several sessions copy it, no transaction is as
//! large as the table, and a copy that broke need not begin anew. Other tables are one part.

use net::sql_text::name;

use crate::inspect::Table;

/// Rows of the first slice of a table, of which nobody knows yet how large they are.
const ROWS_FIRST: u64 = 10_000;
const ROWS_MAX: u64 = 100_000_000;
/// From one slice to the next.
const GROWTH_MAX: u64 = 4;
/// A table is cut if it has at least so many slices.
const SLICES_MIN: u64 = 2;

/// The rows whose key is above the one number, and not above the other; without both, the whole table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub above: Option<i128>,
    pub up_to: Option<i128>,
}

impl Slice {
    /// `WHERE …`, or nothing.
    pub fn condition(self, table: &Table) -> String {
        let Some(key) = table.cut_by.as_deref().map(name) else { return String::new() };
        match (self.above, self.up_to) {
            (None, None) => String::new(),
            (Some(above), None) => format!(" WHERE {key} > {above}"),
            (None, Some(up_to)) => format!(" WHERE {key} <= {up_to}"),
            (Some(above), Some(up_to)) => format!(" WHERE {key} > {above} AND {key} <= {up_to}"),
        }
    }
}

/// Whether it is copied in slices of about so many bytes.
pub(crate) fn is_cut(table: &Table, slice_bytes: u64) -> bool {
    table.cut_by.is_some() && table.data_bytes / SLICES_MIN >= slice_bytes.max(1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Untouched,
    /// Whoever has it says where its slice ends.
    Taken {
        is_first: bool,
    },
    /// Nobody beside the first slice: a server may write the first rows of an empty table under a lock of the whole.
    First {
        next: Option<i128>,
    },
    Behind(i128),
    Over,
}

#[derive(Debug)]
struct State {
    at: At,
    rows: u64,
    under_way: u32,
}

/// What is to be copied.
#[derive(Debug)]
pub(crate) struct Board<'t> {
    tables: Vec<(&'t Table, State)>,
    slice_bytes: u64,
}

/// What a session does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Whole(usize),
    /// Where that slice ends is asked for: it begins there, and has so many rows.
    Cut {
        table: usize,
        above: Option<i128>,
        rows: u64,
    },
    /// Others decide in a moment whether there is more.
    Wait,
    Nothing,
}

impl<'t> Board<'t> {
    pub fn new(tables: &'t [Table], slice_bytes: u64) -> Self {
        let state = || State { at: At::Untouched, rows: ROWS_FIRST, under_way: 0 };
        Self { tables: tables.iter().map(|table| (table, state())).collect(), slice_bytes }
    }

    pub fn take(&mut self) -> Next {
        // What nobody has begun comes before the help for others.
        let untouched = self.tables.iter_mut().enumerate().find(|(_, (_, state))| state.at == At::Untouched);
        if let Some((index, (table, state))) = untouched {
            state.under_way += 1;
            if !is_cut(table, self.slice_bytes) {
                state.at = At::Over;
                return Next::Whole(index);
            }
            state.at = At::Taken { is_first: true };
            return Next::Cut { table: index, above: None, rows: state.rows };
        }
        let mut is_waited_for = false;
        for (index, (_, state)) in self.tables.iter_mut().enumerate() {
            match state.at {
                At::Behind(above) => {
                    state.under_way += 1;
                    state.at = At::Taken { is_first: false };
                    return Next::Cut { table: index, above: Some(above), rows: state.rows };
                }
                At::Taken { .. } | At::First { .. } => is_waited_for = true,
                At::Untouched | At::Over => {}
            }
        }
        if is_waited_for { Next::Wait } else { Next::Nothing }
    }

    /// The slice that was taken of it ends there; `None`: with the table.
    pub fn cut(&mut self, table: usize, up_to: Option<i128>) {
        if let Some((_, state)) = self.tables.get_mut(table) {
            state.at = match (state.at, up_to) {
                (At::Taken { is_first: true }, next) => At::First { next },
                (_, Some(next)) => At::Behind(next),
                (_, None) => At::Over,
            };
        }
    }

    /// A slice is on the target; so many bytes were sent for it, none if it was there. Answers whether it was the last one of its table.
    pub fn done(&mut self, table: usize, bytes: u64) -> bool {
        let Some((_, state)) = self.tables.get_mut(table) else { return false };
        state.under_way = state.under_way.saturating_sub(1);
        if let At::First { next } = state.at {
            state.at = next.map_or(At::Over, At::Behind);
        }
        if bytes > 0 {
            let wanted = u128::from(state.rows) * u128::from(self.slice_bytes) / u128::from(bytes);
            let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
            let least = (state.rows / GROWTH_MAX).max(1);
            state.rows = wanted.clamp(least, state.rows.saturating_mul(GROWTH_MAX).min(ROWS_MAX).max(least));
        }
        state.at == At::Over && state.under_way == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn table(name: &str, cut_by: Option<&str>, data_bytes: u64) -> Table {
        Table {
            schema: "s".into(),
            name: name.into(),
            columns: Vec::new(),
            stored: Vec::new(),
            key: Vec::new(),
            cut_by: cut_by.map(str::to_owned),
            data_bytes,
        }
    }

    #[test]
    fn a_slice_is_a_condition_and_a_whole_table_none() {
        let cut = table("t", Some("i`d"), 1);
        for (above, up_to, sql) in [
            (None, None, ""),
            (Some(-5), None, " WHERE `i``d` > -5"),
            (None, Some(i128::from(u64::MAX)), " WHERE `i``d` <= 18446744073709551615"),
            (Some(1), Some(2), " WHERE `i``d` > 1 AND `i``d` <= 2"),
        ] {
            assert_eq!(Slice { above, up_to }.condition(&cut), sql);
        }
        assert_eq!(Slice { above: Some(1), up_to: None }.condition(&table("t", None, 1)), "");
    }

    #[test]
    fn a_small_table_and_one_without_a_number_are_whole() {
        assert!(is_cut(&table("t", Some("a"), 200), 100));
        assert!(!is_cut(&table("t", Some("a"), 199), 100));
        assert!(!is_cut(&table("t", None, 1000), 100));
        assert!(!is_cut(&table("t", Some("a"), 0), 0));
    }

    #[test]
    fn slices_become_as_large_as_they_are_wished_and_not_at_once() {
        let tables = [table("t", Some("a"), 1 << 40)];
        let mut board = Board::new(&tables, 1_000_000);
        let rows_behind = |board: &mut Board<'_>, bytes| {
            let Next::Cut { rows, .. } = board.take() else { panic!("there is more") };
            board.cut(0, Some(1));
            board.done(0, bytes);
            rows
        };
        assert_eq!(rows_behind(&mut board, 100_000), ROWS_FIRST);
        assert_eq!(rows_behind(&mut board, 2_000_000), ROWS_FIRST * 4);
        assert_eq!(rows_behind(&mut board, u64::MAX), ROWS_FIRST * 2);
        // What was there already says nothing of its size.
        assert_eq!(rows_behind(&mut board, 0), ROWS_FIRST / 2);
        assert_eq!(rows_behind(&mut board, 1), ROWS_FIRST / 2);
    }

    proptest! {
        /// However sessions follow one another: each key is in one slice, the first slice is alone, and each table ends once.
        #[test]
        fn every_row_is_copied_once(
            keys in proptest::collection::vec(proptest::collection::btree_set(-40_i128..40, 0..30), 1..4),
            order in proptest::collection::vec((0_usize..4, 0_u64..5000), 400),
        ) {
            let tables: Vec<Table> =
                (0..keys.len()).map(|at| table(&at.to_string(), (at != 1).then_some("a"), 1000)).collect();
            let mut board = Board::new(&tables, 10);
            for (_, state) in &mut board.tables {
                state.rows = 3;
            }
            let mut held: BTreeMap<usize, (usize, Slice)> = BTreeMap::new();
            let (mut copied, mut ended) = (vec![Vec::new(); keys.len()], vec![0; keys.len()]);
            for (session, bytes) in order {
                if let Some((table, slice)) = held.remove(&session) {
                    let of: Vec<i128> = keys[table].iter().copied()
                        .filter(|key| slice.above.is_none_or(|above| *key > above) && slice.up_to.is_none_or(|up_to| *key <= up_to))
                        .collect();
                    if slice.above.is_none() && slice.up_to.is_some() {
                        prop_assert!(held.values().all(|(other, _)| *other != table), "the first slice is not alone");
                    }
                    copied[table].extend(of);
                    ended[table] += u32::from(board.done(table, bytes));
                    continue;
                }
                match board.take() {
                    Next::Whole(table) => { held.insert(session, (table, Slice::default())); }
                    Next::Cut { table, above, rows } => {
                        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
                        let up_to = keys[table].iter().copied()
                            .filter(|key| above.is_none_or(|above| *key > above)).nth(rows - 1);
                        board.cut(table, up_to);
                        held.insert(session, (table, Slice { above, up_to }));
                    }
                    Next::Wait => prop_assert!(!held.is_empty(), "nobody works, and all wait"),
                    Next::Nothing => {}
                }
            }
            prop_assert!(held.is_empty() || ended.contains(&0));
            if ended.iter().all(|times| *times == 1) {
                for (all, copied) in keys.iter().zip(&mut copied) {
                    copied.sort_unstable();
                    prop_assert_eq!(all.iter().copied().collect::<Vec<_>>(), copied.clone());
                }
            }
            prop_assert!(ended.iter().all(|times| *times <= 1));
        }
    }
}

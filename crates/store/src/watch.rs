//! What `watch` keeps: for each cluster its present states, and those that ended.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::{Store, StoreError};

/// A time in which something was in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRow {
    /// `link`, `finding`, `certificate`, `server`.
    pub family: String,
    pub subject: String,
    pub state: String,
    pub first_seen_unix_ms: u64,
    /// Of a present row: when its cluster was last seen.
    pub last_seen_unix_ms: u64,
    /// The whole value as JSON.
    pub body: String,
}

/// A cluster as it was last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchRecord {
    /// When it was looked at, and what failed, as JSON.
    pub body: String,
    pub rows: Vec<WatchRow>,
}

impl Store {
    /// The clusters that are watched, by name.
    pub fn watched(&self) -> Result<Vec<String>, StoreError> {
        let names = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            connection
                .prepare_cached("SELECT cluster FROM watch_clusters ORDER BY cluster")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        names(&self.connection).map_err(self.failed("read"))
    }

    /// What is kept of each cluster beside its rows, by name.
    pub fn watch_bodies(&self) -> Result<Vec<(String, String)>, StoreError> {
        let bodies = |connection: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
            connection
                .prepare_cached("SELECT cluster, body FROM watch_clusters ORDER BY cluster")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        bodies(&self.connection).map_err(self.failed("read"))
    }

    /// The present rows of one family, of all clusters, each with the name of its cluster; with `states`, those in one of them.
    pub fn watch_family(&self, family: &str, states: &[&str]) -> Result<Vec<(String, WatchRow)>, StoreError> {
        let rows = |connection: &Connection| -> rusqlite::Result<Vec<(String, WatchRow)>> {
            let of_family = format!("{ROWS} WHERE family = ?1 AND is_current = 1");
            let of = |row: &rusqlite::Row<'_>| Ok((row.get(6)?, self::row(row)?));
            if states.is_empty() {
                return connection.prepare_cached(&of_family)?.query_map([family], of)?.collect();
            }
            let wanted = serde_json::json!(states).to_string();
            let of_states = format!("{of_family} AND state IN (SELECT value FROM json_each(?2))");
            connection.prepare_cached(&of_states)?.query_map([family, &wanted], of)?.collect()
        };
        rows(&self.connection).map_err(self.failed("read"))
    }

    /// `None`: this cluster was never watched here.
    pub fn watch_record(&self, cluster: &str) -> Result<Option<WatchRecord>, StoreError> {
        record(&self.connection, cluster).map_err(self.failed("read"))
    }

    /// The newest states of a cluster first, those that ended among them, at most `limit`.
    pub fn watch_history(&self, cluster: &str, limit: u32) -> Result<Vec<WatchRow>, StoreError> {
        let rows = |connection: &Connection| -> rusqlite::Result<Vec<WatchRow>> {
            connection
                .prepare_cached(&format!(
                    "{ROWS} WHERE cluster = ?1 ORDER BY first_seen_unix_ms DESC, id DESC LIMIT ?2"
                ))?
                .query_map(params![cluster, limit], row)?
                .collect()
        };
        rows(&self.connection).map_err(self.failed("read"))
    }

    /// Reads what is kept, lets `next` make what comes after it, and keeps that: one transaction, so that two who watch one cluster do
    /// not undo each other's work. What stays as it is is not written again; what ended before `forget_before_unix_ms` is forgotten.
    pub fn update_watch<T>(
        &mut self,
        cluster: &str,
        forget_before_unix_ms: u64,
        next: impl FnOnce(Option<WatchRecord>) -> (WatchRecord, T),
    ) -> Result<T, StoreError> {
        let failed = self.failed("written to");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        let old = record(&transaction, cluster).map_err(&failed)?;
        let (new, told) = next(old.clone());
        put(&transaction, cluster, &old.unwrap_or_default(), &new, forget_before_unix_ms)
            .and_then(|()| transaction.commit())
            .map_err(failed)?;
        Ok(told)
    }
}

/// What [`row`] takes, and the cluster's name behind it.
const ROWS: &str = "SELECT family, subject, state, first_seen_unix_ms,
        CASE WHEN is_current = 1 THEN max(last_seen_unix_ms, seen_unix_ms) ELSE last_seen_unix_ms END, watch_states.body, cluster
    FROM watch_states JOIN watch_clusters USING (cluster)";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<WatchRow> {
    Ok(WatchRow {
        family: row.get(0)?,
        subject: row.get(1)?,
        state: row.get(2)?,
        first_seen_unix_ms: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
        last_seen_unix_ms: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
        body: row.get(5)?,
    })
}

fn record(connection: &Connection, cluster: &str) -> rusqlite::Result<Option<WatchRecord>> {
    let body: Option<String> = connection
        .query_row("SELECT body FROM watch_clusters WHERE cluster = ?1", [cluster], |row| row.get(0))
        .optional()?;
    let Some(body) = body else { return Ok(None) };
    let rows = connection
        .prepare_cached(&format!("{ROWS} WHERE cluster = ?1 AND is_current = 1 ORDER BY family, subject"))?
        .query_map([cluster], row)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(WatchRecord { body, rows }))
}

/// Times beyond what SQLite holds are no times.
fn signed(unix_ms: u64) -> i64 {
    i64::try_from(unix_ms).unwrap_or(i64::MAX)
}

fn put(
    connection: &Connection,
    cluster: &str,
    old: &WatchRecord,
    new: &WatchRecord,
    forget_before_unix_ms: u64,
) -> rusqlite::Result<()> {
    // Of the earliest, so that no row is told to have been seen later than it was.
    let seen_unix_ms = new.rows.iter().map(|row| row.last_seen_unix_ms).min().unwrap_or(0);
    connection.execute(
        "INSERT INTO watch_clusters (cluster, body, seen_unix_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (cluster) DO UPDATE SET body = excluded.body, seen_unix_ms = excluded.seen_unix_ms",
        params![cluster, new.body, signed(seen_unix_ms)],
    )?;
    let key = |row: &WatchRow| (row.family.clone(), row.subject.clone());
    let before: BTreeMap<_, &WatchRow> = old.rows.iter().map(|row| (key(row), row)).collect();
    let after: BTreeSet<_> = new.rows.iter().map(key).collect();
    let mut end = connection.prepare_cached(
        "UPDATE watch_states SET is_current = 0, last_seen_unix_ms = ?4
         WHERE cluster = ?1 AND family = ?2 AND subject = ?3 AND is_current = 1",
    )?;
    for gone in old.rows.iter().filter(|gone| !after.contains(&key(gone))) {
        end.execute(params![cluster, gone.family, gone.subject, signed(gone.last_seen_unix_ms)])?;
    }
    for row in &new.rows {
        let old = before.get(&key(row));
        let stays =
            |old: &&&WatchRow| old.state == row.state && old.first_seen_unix_ms == row.first_seen_unix_ms;
        if let Some(old) = old.filter(stays) {
            if old.body != row.body || row.last_seen_unix_ms != seen_unix_ms {
                connection
                    .prepare_cached(
                        "UPDATE watch_states SET last_seen_unix_ms = ?4, body = ?5
                         WHERE cluster = ?1 AND family = ?2 AND subject = ?3 AND is_current = 1",
                    )?
                    .execute(params![
                        cluster,
                        row.family,
                        row.subject,
                        signed(row.last_seen_unix_ms),
                        row.body
                    ])?;
            }
        } else {
            if let Some(old) = old {
                end.execute(params![cluster, row.family, row.subject, signed(old.last_seen_unix_ms)])?;
            }
            connection
                .prepare_cached(
                    "INSERT INTO watch_states
                     (cluster, family, subject, state, first_seen_unix_ms, last_seen_unix_ms, is_current, body)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)",
                )?
                .execute(params![
                    cluster,
                    row.family,
                    row.subject,
                    row.state,
                    signed(row.first_seen_unix_ms),
                    signed(row.last_seen_unix_ms),
                    row.body
                ])?;
        }
    }
    connection.execute(
        "DELETE FROM watch_states WHERE cluster = ?1 AND is_current = 0 AND last_seen_unix_ms < ?2",
        params![cluster, signed(forget_before_unix_ms)],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(state: &str, first: u64, last: u64) -> WatchRow {
        WatchRow {
            family: "link".into(),
            subject: "client client-n1".into(),
            state: state.into(),
            first_seen_unix_ms: first,
            last_seen_unix_ms: last,
            body: "{}".into(),
        }
    }

    #[test]
    fn a_state_that_stays_is_one_row_and_one_that_changes_leaves_its_history() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("runs.db")).expect("it opens");
        let mut put = |rows: Vec<WatchRow>, forget: u64| {
            let new = WatchRecord { body: "{}".into(), rows };
            store.update_watch("c", forget, |_| (new, ())).expect("it is kept");
            store.watch_history("c", 99).expect("it reads")
        };
        assert_eq!(put(vec![link("plain", 1, 1)], 0).len(), 1);
        assert_eq!(put(vec![link("plain", 1, 5)], 0), [link("plain", 1, 5)]);
        let both = [link("encrypted", 9, 9), link("plain", 1, 5)];
        assert_eq!(put(vec![link("encrypted", 9, 9)], 0), both);
        assert_eq!(put(vec![], 0), both, "what ended stays in the history");
        assert_eq!(put(vec![], 6), [link("encrypted", 9, 9)], "until it is forgotten");
        assert_eq!(store.watch_record("c").expect("it reads").expect("it is there").rows, []);
        assert_eq!(store.watched().expect("it reads"), ["c"]);
        assert_eq!(store.watch_bodies().expect("it reads"), [("c".to_owned(), "{}".to_owned())]);
    }

    #[test]
    fn what_stays_as_it_is_is_not_written_again_and_ends_when_it_was_last_seen() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("runs.db")).expect("it opens");
        let put = |store: &mut Store, rows: Vec<WatchRow>| {
            let before = store.connection.total_changes();
            let new = WatchRecord { body: "{}".into(), rows };
            store.update_watch("c", 0, |_| (new, ())).expect("it is kept");
            store.connection.total_changes() - before
        };
        let other = |first, last| WatchRow { family: "finding".into(), ..link("fail", first, last) };
        assert_eq!(put(&mut store, vec![link("plain", 1, 1), other(1, 1)]), 3);
        assert_eq!(put(&mut store, vec![link("plain", 1, 5), other(1, 5)]), 1, "that of the cluster");
        let present = store.watch_record("c").expect("it reads").expect("it is there").rows;
        assert_eq!(present, [other(1, 5), link("plain", 1, 5)]);
        // One ends, one goes on, and one of them was seen later than the other.
        put(&mut store, vec![other(1, 9)]);
        assert_eq!(store.watch_history("c", 9).expect("it reads"), [other(1, 9), link("plain", 1, 5)]);
        put(&mut store, vec![link("plain", 12, 12), other(1, 20)]);
        let all = store.watch_history("c", 9).expect("it reads");
        assert_eq!(all, [link("plain", 12, 12), other(1, 20), link("plain", 1, 5)]);
        let plain = store.watch_family("link", &["plain", "broken"]).expect("it reads");
        assert_eq!(plain, [("c".to_owned(), link("plain", 12, 12))], "what ended is not present");
        assert_eq!(store.watch_family("link", &["broken"]).expect("it reads"), []);
        assert_eq!(store.watch_family("finding", &[]).expect("it reads"), [("c".to_owned(), other(1, 20))]);
    }

    #[test]
    fn a_reader_makes_no_file_and_reads_while_another_writes() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("runs.db");
        Store::open_read_only(&path).expect_err("it is not there");
        assert!(!path.exists());
        let mut writer = Store::open(&path).expect("it opens");
        let new = WatchRecord { body: "{}".into(), rows: vec![link("plain", 1, 1)] };
        writer.update_watch("c", 0, |_| (new.clone(), ())).expect("it is kept");
        let mut reader = Store::open_read_only(&path).expect("it opens");
        assert_eq!(reader.watch_record("c").expect("it reads"), Some(new));
        reader.update_watch("c", 0, |_| (WatchRecord::default(), ())).expect_err("it may not write");
    }
}

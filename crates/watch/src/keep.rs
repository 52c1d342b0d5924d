//! The state in the store, and back.

use store::{Store, StoreError, WatchRecord, WatchRow};

use crate::state::{Body, Change, Entry, Look, RotationKept, State, advance};

/// What ended before this is forgotten: a bit more than a year, for "the same month last year".
const HISTORY_MS: u64 = 400 * 86_400_000;

/// What is kept. A row that this version does not understand is left out: it is seen anew.
pub fn state_of(record: &WatchRecord) -> State {
    let entries = record
        .rows
        .iter()
        .filter_map(|row| {
            let body: Body = serde_json::from_str(&row.body).ok()?;
            let entry = Entry {
                first_seen_unix_ms: row.first_seen_unix_ms,
                last_seen_unix_ms: row.last_seen_unix_ms,
                body,
            };
            Some((entry.body.key(), entry))
        })
        .collect();
    State { entries, meta: serde_json::from_str(&record.body).unwrap_or_default() }
}

fn record_of(state: &State) -> WatchRecord {
    // Plain fields, and maps with words for keys.
    let json = |value: serde_json::Result<String>| value.expect("it has no map with other keys than texts");
    let rows = state
        .entries
        .iter()
        .map(|((family, subject), entry)| WatchRow {
            family: (*family).to_owned(),
            subject: subject.clone(),
            state: entry.body.word(),
            first_seen_unix_ms: entry.first_seen_unix_ms,
            last_seen_unix_ms: entry.last_seen_unix_ms,
            body: json(serde_json::to_string(&entry.body)),
        })
        .collect();
    WatchRecord { body: json(serde_json::to_string(&state.meta)), rows }
}

/// What is kept of a cluster.
pub fn read(store: &Store, cluster: &str) -> Result<Option<State>, StoreError> {
    Ok(store.watch_record(cluster)?.map(|record| state_of(&record)))
}

/// Puts into the store what the next process is to know of rotations.
pub fn note_rotation(store: &mut Store, cluster: &str, rotation: &RotationKept) -> Result<(), StoreError> {
    store.update_watch(cluster, 0, |kept| {
        let mut state = kept.map(|record| state_of(&record)).unwrap_or_default();
        state.meta.rotation = Some(rotation.clone());
        (record_of(&state), ())
    })
}

/// Puts a look into the store. What is there counts, unless `known` is newer: it could not be written, or somebody has removed the file.
pub fn record(
    store: &mut Store,
    cluster: &str,
    known: &State,
    look: &Look,
    now_unix_ms: u64,
) -> Result<(State, Vec<Change>), StoreError> {
    store.update_watch(cluster, now_unix_ms.saturating_sub(HISTORY_MS), |kept| {
        let kept = kept.map(|record| state_of(&record));
        // Changes between the two were told already, and are not told as if they had not been.
        let before = kept.as_ref().filter(|kept| kept.meta.last_look_unix_ms >= known.meta.last_look_unix_ms);
        let (mut state, changes) = advance(before.unwrap_or(known), look, now_unix_ms);
        // This process has the lock: what it knows of its rotations is the newest, also where it could not be written.
        state.meta.rotation = known.meta.rotation.clone().or(state.meta.rotation);
        (record_of(&state), (state, changes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Failure, Reason, ServerSight, Sights};

    fn look(answers: bool) -> Look {
        let answer = if answers {
            Ok(("10.11".to_owned(), "up".to_owned()))
        } else {
            Err(Failure { reason: Reason::NoAnswer, why: "no answer".into() })
        };
        let servers = vec![ServerSight { name: "n1".into(), address: "a".into(), answer }];
        let outcome = Ok(Sights { servers, ..Sights::default() });
        Look { servers: vec!["n1".into()], took_ms: 1, interval_s: 60, outcome }
    }

    fn words(changes: &[Change]) -> Vec<(&str, &str)> {
        let of_server = changes.iter().filter(|change| change.key.0 == "server");
        of_server
            .map(|change| (change.from.as_deref().unwrap_or("-"), change.to.as_deref().unwrap_or("-")))
            .collect()
    }

    /// Seen by an outsider: the last word on a server that was back was "silent", for ever.
    #[test]
    fn what_was_told_while_the_store_was_away_is_not_told_as_if_it_had_not_been() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("w.sqlite")).expect("a store");
        let (up, told) = record(&mut store, "c", &State::default(), &look(true), 1_000).expect("kept");
        assert_eq!(words(&told), [("-", "up")]);
        // Nothing is written, and told all the same.
        let (silent, told) = advance(&up, &look(false), 2_000);
        assert_eq!(words(&told), [("up", "silent")]);
        let (_, told) = record(&mut store, "c", &silent, &look(true), 3_000).expect("kept");
        assert_eq!(words(&told), [("silent", "up")]);
        // What a process before this one has kept counts.
        let (_, told) = record(&mut store, "c", &State::default(), &look(false), 4_000).expect("kept");
        assert_eq!(words(&told), [("up", "silent")]);
    }

    #[test]
    fn what_is_known_of_rotations_outlives_looks() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("w.sqlite")).expect("a store");
        let (state, _) = record(&mut store, "c", &State::default(), &look(true), 1_000).expect("kept");
        let rotation = RotationKept {
            what: "clients".into(),
            is_open: true,
            last_done_unix_ms: Some(7),
            next_unix_ms: None,
        };
        note_rotation(&mut store, "c", &rotation).expect("kept");
        let (state, _) = record(&mut store, "c", &state, &look(true), 2_000).expect("kept");
        assert_eq!(state.meta.rotation.as_ref(), Some(&rotation));
        let read = read(&store, "c").expect("it reads").expect("it is there");
        assert_eq!((read.meta.rotation, read.entries.len()), (Some(rotation), state.entries.len()));
    }
}

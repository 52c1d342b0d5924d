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

/// Puts a look into the store. What is there counts, since another watch may have written it; `known` counts where there is nothing,
/// as when somebody has removed the file.
pub fn record(
    store: &mut Store,
    cluster: &str,
    known: &State,
    look: &Look,
    now_unix_ms: u64,
) -> Result<(State, Vec<Change>), StoreError> {
    store.update_watch(cluster, now_unix_ms.saturating_sub(HISTORY_MS), |kept| {
        let kept = kept.map(|record| state_of(&record));
        let (state, changes) = advance(kept.as_ref().unwrap_or(known), look, now_unix_ms);
        (record_of(&state), (state, changes))
    })
}

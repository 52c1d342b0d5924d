//! One stream a page: it says that the store has changed, and the page fetches itself anew.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use tokio::sync::OwnedSemaphorePermit;

use crate::Site;

const POLL: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Browsers allow six a host; this is for some of them with many tabs.
pub const STREAMS_MAX: usize = 64;

/// Of the files that a write to the store changes: time and size.
fn mark(store: &Path) -> [Option<(SystemTime, u64)>; 2] {
    let mut wal = store.as_os_str().to_owned();
    wal.push("-wal");
    [store.to_owned(), PathBuf::from(wal)].map(|path| {
        let about = path.metadata().ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

fn events(store: Arc<PathBuf>, place: OwnedSemaphorePermit) -> impl Stream<Item = Result<Event, Infallible>> {
    let seen = mark(&store);
    stream::unfold((store, seen, place), |(store, seen, place)| async move {
        loop {
            tokio::time::sleep(POLL).await;
            let now = mark(&store);
            if now != seen {
                let event = Event::default().event("changed").data("");
                return Some((Ok(event), (store, now, place)));
            }
        }
    })
}

pub async fn live(State(site): State<Site>) -> Response {
    let Ok(place) = site.streams.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    };
    let stream =
        Sse::new(events(site.store.clone(), place)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // nginx would collect what is to be sent at once.
    ([(HeaderName::from_static("x-accel-buffering"), "no")], stream).into_response()
}

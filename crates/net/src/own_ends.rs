//! The local ends of the connections that this process has made. A capture sees them beside those of applications, and they are
//! no evidence of how others are connected. They are noted where sockets are made, so that no way of connecting can forget to.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A closed end is of use to a capture that was running then. None takes longer than this.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Above this number of ends those that are older than [`KEPT`] are removed.
const TIDY_ABOVE: usize = 8_192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// As often as it is open: a connection made elsewhere may have the same end on another machine.
    Open(u32),
    Closed(Instant),
}

static ENDS: Mutex<BTreeMap<SocketAddr, State>> = Mutex::new(BTreeMap::new());

/// Those that are open now, or were at some time since `since`, as IPv4 addresses where they are mapped ones.
pub fn own_ends(since: Instant) -> BTreeSet<SocketAddr> {
    let ends = ENDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let counts = |state: &State| match state {
        State::Open(_) => true,
        State::Closed(when) => *when >= since,
    };
    ends.iter().filter(|(_, state)| counts(state)).map(|(end, _)| *end).collect()
}

/// An end that counts as ours until a capture that runs when it is dropped has ended.
#[derive(Debug)]
pub(crate) struct OwnEnd(SocketAddr);

impl OwnEnd {
    pub(crate) fn note(end: SocketAddr) -> Self {
        let end = SocketAddr::new(end.ip().to_canonical(), end.port());
        let mut ends = ENDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if ends.len() > TIDY_ABOVE {
            ends.retain(|_, state| !matches!(state, State::Closed(when) if when.elapsed() > KEPT));
        }
        let state = ends.entry(end).or_insert(State::Open(0));
        *state = match *state {
            State::Open(times) => State::Open(times.saturating_add(1)),
            State::Closed(_) => State::Open(1),
        };
        Self(end)
    }

    /// It is an application's, whoever made it.
    pub(crate) fn disown(self) {
        let mut ends = ENDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ends.remove(&self.0);
        drop(ends);
        std::mem::forget(self);
    }
}

impl Drop for OwnEnd {
    fn drop(&mut self) {
        let mut ends = ENDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(state) = ends.get_mut(&self.0) {
            *state = match *state {
                State::Open(times) if times > 1 => State::Open(times - 1),
                _ => State::Closed(Instant::now()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_end_counts_while_it_is_open_and_for_who_looked_then() {
        let before = Instant::now();
        let one = OwnEnd::note(end("[::ffff:192.0.2.1]:1001"));
        assert!(own_ends(Instant::now()).contains(&end("192.0.2.1:1001")));
        drop(one);
        assert!(own_ends(before).contains(&end("192.0.2.1:1001")));
        std::thread::sleep(Duration::from_millis(2));
        assert!(!own_ends(Instant::now()).contains(&end("192.0.2.1:1001")));
        OwnEnd::note(end("192.0.2.1:1002")).disown();
        assert!(!own_ends(before).contains(&end("192.0.2.1:1002")));
    }
}

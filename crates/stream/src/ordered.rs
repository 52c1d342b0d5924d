//! Bytes that come in pieces on several connections, read in their order.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::cells::Digest;

/// How far ahead of what is next a piece is taken; a connection that brings a later one waits.
const WINDOW_BYTES: u64 = 32 << 20;

#[derive(Default)]
struct State {
    /// Of the next byte.
    at: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
    /// Buffers that are empty again.
    free: Vec<Vec<u8>>,
    hasher: blake3::Hasher,
    announced: Option<(u64, Digest)>,
    /// All connections have ended, and everything counts.
    is_whole: bool,
    failed: Option<String>,
    /// It began there, and not with whoever reads.
    failed_by_connection: bool,
}

/// Between the connections and whoever reads.
#[derive(Default)]
pub struct Ordered {
    state: Mutex<State>,
    news: Condvar,
}

impl Ordered {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece; those of one connection come in their order. Waits while it is too early for it. `false`: nobody wants any more.
    pub fn put(&self, offset: u64, bytes: &[u8]) -> Result<bool, String> {
        let mut state = self.state();
        if offset < state.at || state.pieces.contains_key(&offset) {
            return Err("a piece came twice".into());
        }
        while state.failed.is_none() && offset >= state.at.saturating_add(WINDOW_BYTES) {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed.is_some() {
            return Ok(false);
        }
        let mut piece = state.free.pop().unwrap_or_default();
        // Filled by nobody else: no other connection has this piece.
        drop(state);
        piece.clear();
        piece.extend_from_slice(bytes);
        self.state().pieces.insert(offset, piece);
        self.news.notify_all();
        Ok(true)
    }

    /// What the sender says that all of it is.
    pub fn announce(&self, size_bytes: u64, digest: Digest) {
        self.state().announced = Some((size_bytes, digest));
    }

    /// Every connection has ended well.
    pub fn end(&self) {
        self.state().is_whole = true;
        self.news.notify_all();
    }

    /// Whoever reads has failed: nobody wants any more.
    pub fn fail(&self, why: &str) {
        self.note(why, false);
    }

    /// A connection has failed, at once for all: whoever reads gets an error instead of an end, and connections that wait for the piece
    /// which it would have brought wait no longer.
    pub fn fail_connection(&self, why: &str) {
        self.note(why, true);
    }

    fn note(&self, why: &str, by_connection: bool) {
        let mut state = self.state();
        if state.failed.is_none() {
            state.failed = Some(why.to_owned());
            state.failed_by_connection = by_connection;
        }
        drop(state);
        self.news.notify_all();
    }

    pub fn has_failed(&self) -> bool {
        self.state().failed.is_some()
    }

    /// Whether a connection was the first to fail.
    pub fn was_connection(&self) -> bool {
        self.state().failed_by_connection
    }

    pub fn reader(&self) -> Reader<'_> {
        Reader { ordered: self, piece: Vec::new(), taken: 0 }
    }

    /// The next piece; `None`: there is none, and all that was announced came.
    fn next(&self, used: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let mut state = self.state();
        if used.capacity() > 0 {
            state.free.push(used);
        }
        loop {
            if let Some(why) = &state.failed {
                return Err(io::Error::other(why.clone()));
            }
            let at = state.at;
            if let Some(piece) = state.pieces.remove(&at) {
                state.at += piece.len() as u64;
                self.news.notify_all();
                drop(state);
                return Ok(Some(piece));
            }
            if state.is_whole {
                let found = (at, *state.hasher.finalize().as_bytes());
                if state.pieces.is_empty() && state.announced == Some(found) {
                    return Ok(None);
                }
                let why = "what came is not what was read: its length or its BLAKE3 is another one";
                return Err(io::Error::other(why));
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What came, in order. Its end is an end only if all of it came.
pub struct Reader<'o> {
    ordered: &'o Ordered,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        if self.taken == self.piece.len() {
            let used = std::mem::take(&mut self.piece);
            self.taken = 0;
            let Some(piece) = self.ordered.next(used)? else { return Ok(0) };
            // Pieces are taken by one thread, in order.
            let mut hasher = std::mem::take(&mut self.ordered.state().hasher);
            hasher.update(&piece);
            self.ordered.state().hasher = hasher;
            self.piece = piece;
        }
        let there = self.piece.get(self.taken..).unwrap_or_default();
        let count = there.len().min(into.len());
        let (now, _) = there.split_at(count);
        into.get_mut(..count).unwrap_or_default().copy_from_slice(now);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn digest(bytes: &[u8]) -> Digest {
        blake3::hash(bytes).into()
    }

    #[test]
    fn pieces_of_several_connections_come_out_in_order_and_within_the_window() {
        let all: Vec<u8> = (0..80_u32 << 20).map(|at| (at >> 12).to_le_bytes()[0]).collect();
        let ordered = Ordered::default();
        std::thread::scope(|scope| {
            for connection in 0..3 {
                let (ordered, all) = (&ordered, &all);
                scope.spawn(move || {
                    for (at, piece) in all.chunks(1 << 20).enumerate().filter(|(at, _)| at % 3 == connection)
                    {
                        assert_eq!(ordered.put((at as u64) << 20, piece), Ok(true));
                        assert!(ordered.state().pieces.len() <= 33);
                    }
                });
            }
            let mut found = vec![0; all.len()];
            ordered.reader().read_exact(&mut found).unwrap();
            assert!(found == all);
        });
        ordered.announce(all.len() as u64, digest(&all));
        ordered.end();
    }

    #[test]
    fn an_end_is_one_only_if_all_came() {
        let cases: [(&[u8], u64, Option<&str>); 4] = [
            (b"all of it", 9, None),
            (b"all of it", 8, Some("another one")),
            (b"all of IT", 9, Some("another one")),
            (b"all of it", 9, Some("given up")),
        ];
        for (announced, size_bytes, fails) in cases {
            let ordered = Ordered::default();
            ordered.put(0, b"all of it").unwrap();
            ordered.announce(size_bytes, digest(announced));
            if fails == Some("given up") {
                ordered.fail("given up");
            }
            ordered.end();
            let mut found = Vec::new();
            let read = ordered.reader().read_to_end(&mut found);
            match fails {
                None => assert_eq!((read.unwrap(), found.as_slice()), (9, &b"all of it"[..])),
                Some(why) => assert!(read.unwrap_err().to_string().contains(why)),
            }
        }
        let ordered = Ordered::default();
        ordered.put(0, b"x").unwrap();
        assert!(ordered.put(0, b"x").is_err());
    }

    /// One that has run ahead waits for what another one brings. It must not, where that one is gone.
    #[test]
    fn whoever_waits_for_another_connection_hears_that_it_has_failed() {
        let ordered = Ordered::default();
        std::thread::scope(|scope| {
            let ahead = scope.spawn(|| ordered.put(WINDOW_BYTES, b"far ahead"));
            std::thread::sleep(std::time::Duration::from_millis(20));
            ordered.fail_connection("reset");
            assert_eq!(ahead.join().unwrap(), Ok(false));
        });
        ordered.fail("what comes: reset");
        assert!(ordered.was_connection() && ordered.has_failed());
        let other = Ordered::default();
        other.fail("the disk is full");
        other.fail_connection("stopped");
        assert!(!other.was_connection());
    }
}

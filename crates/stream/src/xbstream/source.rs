//! Chunks out of a pipe or a file, and which path they belong to.

use std::collections::BTreeMap;
use std::io::{self, Read};

use formats::xbstream::{self, Head, Kind, Parsed};

use super::{DAMAGED, at, printable};
use crate::StreamError;
use crate::entry::is_inside;
use crate::progress::Progress;

/// Tools open as many as they have threads, and one for the log; a stream that opens more is none of theirs.
const OPEN_MAX: usize = 256;
/// As for `receive`: a stream with more is no backup of a server.
const PATHS_MAX: u64 = 10_000_000;

/// Tools fill chunks up to 10 MiB, more or less.
const ROUNDED_BYTES: usize = 64 << 10;
/// The end of a file whose name is one byte.
const HEAD_BYTES_MIN: usize = 15;

pub struct Source<R> {
    read: R,
    /// Of the next byte.
    at_bytes: u64,
    head: Vec<u8>,
}

impl<R: Read> Source<R> {
    pub fn new(read: R) -> Self {
        Self { read, at_bytes: 0, head: Vec::with_capacity(xbstream::HEAD_BYTES_MAX) }
    }

    pub fn at_bytes(&self) -> u64 {
        self.at_bytes
    }

    /// The next header, and where its chunk begins. `None`: the stream ends between two chunks.
    pub fn head(&mut self) -> Result<Option<(Head, u64)>, StreamError> {
        let begin = self.at_bytes;
        let mut head = std::mem::take(&mut self.head);
        let mut wanted = HEAD_BYTES_MIN;
        let found = loop {
            let has = head.len();
            head.resize(wanted, 0);
            let came = self
                .fill(head.get_mut(has..).unwrap_or_default())
                .map_err(|error| unreadable(begin, &error))?;
            if has + came == 0 {
                break Ok(None);
            }
            head.truncate(has + came);
            match xbstream::parse(&head).map_err(|error| at(b"", begin, error, DAMAGED))? {
                _ if head.len() < wanted => {
                    break Err(at(b"", self.at_bytes, "it ends inside a chunk", DAMAGED));
                }
                Parsed::Needs(more) => wanted = more,
                Parsed::Head { head, .. } => break Ok(Some((head, begin))),
            }
        };
        head.clear();
        self.head = head;
        found
    }

    /// What follows that header, into `body`, whose old bytes are written over: nobody fills it with zeros first.
    pub fn body(&mut self, head: &Head, body: &mut Vec<u8>) -> Result<(), StreamError> {
        let wanted = head.body_bytes();
        if body.capacity() < wanted {
            body.clear();
            // The next one that is a little longer finds room in it, too.
            body.reserve_exact(wanted.next_multiple_of(ROUNDED_BYTES));
        }
        body.resize(wanted, 0);
        let came = self.fill(body).map_err(|error| unreadable(self.at_bytes, &error))?;
        if came < wanted {
            return Err(at(&head.path, self.at_bytes, "the stream ends inside a chunk of it", DAMAGED));
        }
        Ok(())
    }

    /// As much as there is room for, or as much as still comes.
    fn fill(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read.read(rest) {
                Ok(0) => break,
                Ok(count) => {
                    filled += count;
                    self.at_bytes += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

fn unreadable(at_bytes: u64, error: &io::Error) -> StreamError {
    at(
        b"",
        at_bytes,
        format!("it cannot be read: {error}"),
        "read it from where it can be read; nothing that was written counts",
    )
}

/// Which paths are open, and where the next bytes of each belong.
#[derive(Default)]
pub struct Paths {
    open: BTreeMap<Vec<u8>, OpenPath>,
    count: u64,
}

/// A path whose end has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPath {
    /// From 0, in the order in which paths came.
    pub number: u64,
    /// Behind the last byte that came; holes are counted later.
    pub came_bytes: u64,
    pub worker: usize,
}

impl Paths {
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The file of a chunk; if it is a new one, `worker` is asked who shall have it.
    pub fn of(
        &mut self,
        head: &Head,
        at_bytes: u64,
        worker: impl FnOnce() -> usize,
    ) -> Result<(OpenPath, bool), StreamError> {
        if let Some(open) = self.open.get_mut(&head.path) {
            open.came_bytes = open.came_bytes.saturating_add(head.payload_bytes as u64);
            return Ok((*open, false));
        }
        let refuse = |why: &str| Err(at(&head.path, at_bytes, why, DAMAGED));
        if !is_inside(&super::local(&head.path)) {
            return refuse("it leads out of the directory, or is no path: nothing is written there");
        }
        if self.open.len() >= OPEN_MAX {
            return refuse(&format!("{OPEN_MAX} files were begun and not ended before it"));
        }
        if self.count >= PATHS_MAX {
            return refuse(&format!("{PATHS_MAX} files came before it"));
        }
        let open = OpenPath { number: self.count, came_bytes: head.payload_bytes as u64, worker: worker() };
        self.count += 1;
        self.open.insert(head.path.clone(), open);
        Ok((open, true))
    }

    pub fn end(&mut self, path: &[u8]) {
        self.open.remove(path);
    }

    /// At the end of the stream.
    pub fn all_ended(&self, at_bytes: u64) -> Result<(), StreamError> {
        let Some(first) = self.open.keys().next() else { return Ok(()) };
        let others = self.open.len() - 1;
        let others = if others > 0 { format!("; {others} more files have none") } else { String::new() };
        Err(at(
            first,
            at_bytes,
            format!("the stream ends, and the end of this file never came{others}"),
            DAMAGED,
        ))
    }
}

/// A file of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// As it may be printed.
    pub path: String,
    /// As they are in the stream: compressed and encrypted ones are not told apart.
    pub stored_bytes: u64,
}

/// What is in a stream, with every checksum checked; nothing is written.
///
/// # Errors
/// It is no whole stream.
pub fn list(read: impl Read, progress: &Progress, show: &mut dyn FnMut(&Listed)) -> Result<u64, StreamError> {
    let (mut source, mut paths, mut body) = (Source::new(read), Paths::default(), Vec::new());
    let stopped = |error| if progress.is_stopped() { StreamError::Stopped } else { error };
    while let Some((head, begin)) = source.head().map_err(stopped)? {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        source.body(&head, &mut body).map_err(stopped)?;
        xbstream::check(&head, &body).map_err(|error| at(&head.path, begin, error, DAMAGED))?;
        if !matches!(head.kind, Kind::Ignorable(_)) {
            let (open, _) = paths.of(&head, begin, || 0)?;
            if head.kind == Kind::End {
                paths.end(&head.path);
                show(&Listed { path: printable(&head.path), stored_bytes: open.came_bytes });
            }
        }
        progress.add(source.at_bytes() - begin);
    }
    paths.all_ended(source.at_bytes())?;
    Ok(paths.count())
}

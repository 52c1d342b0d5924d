//! A stream into a directory.

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use formats::xbstream::{Head, Kind};

use super::buffers::Buffers;
use super::front::Front;
use super::place::Place;
use super::source::{Paths, Source};
use super::worker::{Job, Worker};
use super::{DAMAGED, Decryption, at};
use crate::StreamError;
use crate::behind::behind;
use crate::landing::{lay_mark, prepare};
use crate::progress::Progress;

#[derive(Debug, Clone)]
pub struct ExtractOptions {
    /// Not there, or empty.
    pub into: PathBuf,
    /// `None`: encrypted files stay so.
    pub decryption: Option<Decryption>,
    /// Otherwise compressed files stay so.
    pub decompresses: bool,
    pub workers: usize,
    /// Everything is on the disk before it is said to be done.
    pub is_synced: bool,
}

/// What was placed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    pub files: u64,
    /// Of the stream.
    pub stream_bytes: u64,
    /// Of the files, holes too.
    pub size_bytes: u64,
    pub decrypted: u64,
    /// Files that were not encrypted in a stream that was to be decrypted.
    pub not_encrypted: u64,
}

/// The failure that comes first in the stream.
#[derive(Default)]
struct Failure {
    is_there: AtomicBool,
    first: Mutex<Option<StreamError>>,
}

impl Failure {
    fn note(&self, error: StreamError) {
        let place = |error: &StreamError| match error {
            StreamError::Content { at_bytes, .. } => *at_bytes,
            _ => u64::MAX,
        };
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|known| place(&error) < place(known)) {
            *first = Some(error);
        }
        self.is_there.store(true, Ordering::Relaxed);
    }
}

/// Places all files of a stream. [`crate::landing::MARK`] lies in the directory until all of it is there.
///
/// # Errors
/// What was written stays, with the mark in it; the file and the place in the stream are named.
pub fn extract(
    read: impl Read,
    options: &ExtractOptions,
    progress: &Progress,
) -> Result<Extracted, StreamError> {
    let root = &options.into;
    prepare(root, false)?;
    let mark = lay_mark(root, false)?;
    let place = Place::new(root).map_err(|error| StreamError::Target {
        what: root.display().to_string(),
        why: error.to_string(),
        next: "name another directory".into(),
    })?;
    let held_bytes = AtomicUsize::new(0);
    let (buffers, failure) = (Buffers::default(), Failure::default());
    let queued: Vec<AtomicU64> = (0..options.workers.max(1)).map(|_| AtomicU64::new(0)).collect();
    let mut source = Source::new(read);
    let mut sum = Extracted::default();
    std::thread::scope(|scope| {
        let (buffers, failure) = (&buffers, &failure);
        let mut queues = Vec::new();
        let threads: Vec<_> = queued
            .iter()
            .map(|queued| {
                let (jobs, arrived) = mpsc::channel::<Job<'_>>();
                queues.push(jobs);
                let (behind, writing) = behind();
                scope.spawn(|| writing.run());
                let (mut front, parts) = Front::new(options, &place, &held_bytes);
                let mut worker = Worker::new(&held_bytes, behind);
                // What comes behind a failure is taken all the same: somebody may be waiting for it.
                let is_well = || !failure.is_there.load(Ordering::Relaxed);
                let first = scope.spawn(move || {
                    for job in arrived {
                        let taken = job.head.body_bytes() as u64;
                        if is_well()
                            && let Err(error) = front.run(job)
                        {
                            failure.note(error);
                        }
                        queued.fetch_sub(taken, Ordering::Relaxed);
                    }
                    front.done
                });
                let second = scope.spawn(move || {
                    for part in parts.parts {
                        if is_well()
                            && let Err(error) = worker.run(part, &parts.free)
                        {
                            failure.note(error);
                        }
                    }
                    worker.done
                });
                [first, second]
            })
            .collect();
        if let Err(error) = hand_out(&mut source, &queues, &queued, buffers, failure, progress) {
            failure.note(error);
        }
        drop(queues);
        for thread in threads.into_iter().flatten() {
            match thread.join() {
                Ok(done) => {
                    sum.files += done.files;
                    sum.size_bytes = sum.size_bytes.saturating_add(done.size_bytes);
                    sum.decrypted += done.decrypted;
                    sum.not_encrypted += done.not_encrypted;
                }
                Err(_) => failure.note(at(b"", source.at_bytes(), "a worker of sealion ended", "report it")),
            }
        }
    });
    if progress.is_stopped() {
        return Err(StreamError::Stopped);
    }
    let first = failure.first.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = first {
        return Err(error);
    }
    if options.is_synced {
        mark.sync()?;
    }
    mark.take(options.is_synced)?;
    sum.stream_bytes = source.at_bytes();
    Ok(sum)
}

/// Reads to the end, and gives each chunk to the worker of its file.
fn hand_out<'b>(
    source: &mut Source<impl Read>,
    queues: &[mpsc::Sender<Job<'b>>],
    queued: &[AtomicU64],
    buffers: &'b Buffers,
    failure: &Failure,
    progress: &Progress,
) -> Result<(), StreamError> {
    let mut paths = Paths::default();
    while let Some((head, begin)) = source.head()? {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        let taken = head.body_bytes();
        let mut body = buffers.take(taken);
        if failure.is_there.load(Ordering::Relaxed) {
            return Ok(());
        }
        source.body(&head, &mut body.bytes)?;
        progress.add(source.at_bytes() - begin);
        if matches!(head.kind, Kind::Ignorable(_)) {
            check_ignored(&head, &body.bytes, begin)?;
            continue;
        }
        let idlest = || {
            let by_bytes = queued.iter().enumerate().min_by_key(|(_, bytes)| bytes.load(Ordering::Relaxed));
            by_bytes.map_or(0, |(index, _)| index)
        };
        let (open, is_new) = paths.of(&head, begin, idlest)?;
        if head.kind == Kind::End {
            paths.end(&head.path);
        }
        if let Some(bytes) = queued.get(open.worker) {
            bytes.fetch_add(taken as u64, Ordering::Relaxed);
        }
        let job = Job { number: open.number, is_new, head, body, at_bytes: begin };
        if queues.get(open.worker).is_none_or(|queue| queue.send(job).is_err()) {
            return Err(at(b"", begin, "a worker of sealion ended", "report it"));
        }
    }
    if paths.count() == 0 {
        let next = "check that the backup tool has ended well, and that it writes --stream=xbstream";
        return Err(at(b"", 0, "it is empty", next));
    }
    paths.all_ended(source.at_bytes())
}

/// Damage is damage, whatever is in it.
fn check_ignored(head: &Head, body: &[u8], begin: u64) -> Result<(), StreamError> {
    formats::xbstream::check(head, body).map(drop).map_err(|error| at(&head.path, begin, error, DAMAGED))
}

//! One copy, from the first connection to the last word.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::deliver::{self, Delivery};
use super::target::{self, Archive};
use super::{ACCEPT_POLL, Arrived, Into};
use crate::cipher::Speeds;
use crate::frame::{Content, Frame, Hello};
use crate::landing::{Landing, Pieces, lay_mark};
use crate::link::Link;
use crate::ordered::Ordered;
use crate::progress::{GivenUp, Progress};
use crate::times::{Look, Times};
use crate::tls::version_and_suite;
use crate::{StreamError, Summary};

const WORKING_EVERY: Duration = Duration::from_secs(5);
const STATUS_EVERY: Duration = Duration::from_millis(500);
/// A sender that has begun opens its other connections within this.
const OTHERS_MAX: Duration = Duration::from_secs(30);

pub struct Copy<'r> {
    pub arrived: mpsc::Receiver<Arrived>,
    pub progress: &'r Progress,
    pub resumes: bool,
    pub speeds: Speeds,
}

impl Copy<'_> {
    pub fn run(&self, into: Into) -> Result<Summary, StreamError> {
        let Arrived { mut link, hello } = self.first()?;
        self.progress.begin();
        match self.copy(&mut link, &hello, into) {
            Ok(summary) => Ok(Summary { connections: hello.connections, ..summary }),
            Err(error) => {
                link.fail(error.to_string());
                Err(error)
            }
        }
    }

    /// The connection that brings the list of files.
    fn first(&self) -> Result<Arrived, StreamError> {
        loop {
            match self.arrived.recv_timeout(ACCEPT_POLL) {
                Ok(arrived) if arrived.hello.connection == 0 => return self.greeted(arrived),
                // Of a copy that is over.
                Ok(_) | Err(RecvTimeoutError::Timeout) if !self.progress.is_stopped() => {}
                _ => return Err(StreamError::Stopped),
            }
        }
    }

    fn greeted(&self, mut arrived: Arrived) -> Result<Arrived, StreamError> {
        arrived.link.send(&Frame::Hello(Hello { speeds: self.speeds, ..arrived.hello }))?;
        Ok(arrived)
    }

    fn copy(&self, first: &mut Link, hello: &Hello, into: Into) -> Result<Summary, StreamError> {
        let refuse = |why: &str, next: &str| {
            Err(StreamError::Setup {
                what: "this copy cannot be received as was asked".into(),
                why: why.into(),
                next: next.into(),
            })
        };
        match (hello.content, into) {
            (Content::Tree, Into::Directory(root)) => self.tree(first, hello, &root),
            (Content::Tree, Into::Archive { path, options }) => {
                let mut landing = Landing::only_checked(&path);
                self.entries(first, &mut landing)?;
                let archive = Archive::new(&path, &options, landing.entries())?;
                let sum = self.data(first, hello, &Target::Archive(&landing, &archive))?;
                Self::working(first, || {
                    landing.check_all()?;
                    archive.finish(sum.data_bytes)
                })?;
                Self::done(first, Summary { data_bytes: sum.data_bytes, ..landing.summary() }, sum)
            }
            (Content::Tree, Into::Command(_) | Into::Writer(_)) => refuse(
                "the sender has a directory, and this end takes what a program writes",
                "receive it into a directory or an archive; or send a tar of it: tar c . | sealion send - …",
            ),
            (Content::Bytes, _) if self.resumes => {
                refuse("what a program writes comes once and is not resumed", "receive it without --resume")
            }
            (Content::Bytes, into) => self.bytes(first, hello, into),
        }
    }

    fn tree(&self, first: &mut Link, hello: &Hello, root: &Path) -> Result<Summary, StreamError> {
        let mark = lay_mark(root, self.resumes)?;
        let mut landing = Landing::new(root, self.resumes);
        self.entries(first, &mut landing)?;
        if self.resumes {
            landing.refuse_strangers()?;
            landing.there(&mut |entry, cell, digests| {
                if self.progress.is_stopped() {
                    return Err(StreamError::Stopped);
                }
                first.send_bytes(&crate::frame::encode(&Frame::Have { entry, cell, digests }))
            })?;
        }
        let sum = self.data(first, hello, &Target::Tree(&landing))?;
        Self::working(first, || landing.finish(&mark, true))?;
        Self::done(first, Summary { data_bytes: sum.data_bytes, ..landing.summary() }, sum)
    }

    fn bytes(&self, first: &mut Link, hello: &Hello, into: Into) -> Result<Summary, StreamError> {
        let ordered = Ordered::default();
        let times = std::sync::Arc::new(Times::default());
        std::thread::scope(|scope| {
            let delivery = Delivery { ordered: &ordered, times: &times, progress: self.progress };
            let thread = scope.spawn(move || deliver::deliver(&delivery, into));
            let sum = self.data(first, hello, &Target::Bytes(&ordered, &times));
            let is_first = match &sum {
                Ok(_) => {
                    ordered.end();
                    false
                }
                Err(error) => ordered.fail(&error.to_string()),
            };
            let delivered = Self::working(first, || {
                // Whatever the connections said, what became of it is what counts.
                thread.join().unwrap_or(Err(StreamError::Stopped))
            });
            let sum = match (sum, delivered) {
                // The connections failed because nobody took what they brought.
                (_, Err(error)) if !is_first => return Err(error),
                (Err(error), _) | (Ok(_), Err(error)) => return Err(error),
                (Ok(sum), Ok(())) => sum,
            };
            let summary = Summary {
                files: 1,
                data_bytes: sum.data_bytes,
                size_bytes: sum.data_bytes,
                ..Summary::default()
            };
            Self::done(first, summary, sum)
        })
    }

    fn done(first: &mut Link, summary: Summary, sum: Sum) -> Result<Summary, StreamError> {
        first.send(&Frame::Done { files: summary.files, data_bytes: summary.data_bytes })?;
        Ok(Summary {
            tls_version: sum.tls_version,
            cipher_suite: sum.cipher_suite,
            kept_bytes: summary.size_bytes.min(sum.kept_bytes),
            ..summary
        })
    }

    /// Reads the list, and makes directories and files, with room for what they will hold.
    fn entries(&self, first: &mut Link, landing: &mut Landing) -> Result<(), StreamError> {
        let mut told = Instant::now();
        loop {
            match first.receive()? {
                Frame::Entries(some) => landing.add(some)?,
                Frame::EntriesEnd { count, size_bytes } => {
                    if count != landing.entries().len() as u64 || size_bytes != landing.size_bytes() {
                        return Err(first.unexpected("another number of files than was announced"));
                    }
                    self.progress.set_total(size_bytes);
                    return Ok(());
                }
                _ => return Err(first.unexpected("anything but a list of files")),
            }
            if told.elapsed() > WORKING_EVERY {
                told = Instant::now();
                first.send(&Frame::Working)?;
            }
        }
    }

    /// The connections that files travel on.
    fn others(&self, hello: &Hello) -> Result<Vec<Link>, StreamError> {
        let mut others = BTreeMap::new();
        let deadline = Instant::now() + OTHERS_MAX;
        while others.len() < usize::from(hello.connections) {
            if Instant::now() > deadline {
                return Err(StreamError::Broken {
                    peer: "the sender".into(),
                    why: format!("it opened {} of {} connections", others.len(), hello.connections),
                });
            }
            if self.progress.is_stopped() {
                return Err(StreamError::Stopped);
            }
            match self.arrived.recv_timeout(ACCEPT_POLL) {
                Ok(arrived) if arrived.hello.session == hello.session && arrived.hello.connection > 0 => {
                    let arrived = self.greeted(arrived)?;
                    others.insert(arrived.hello.connection, arrived.link);
                }
                Ok(mut stranger) => {
                    let why = StreamError::Setup {
                        what: "this receiver is busy with another copy".into(),
                        why: "it takes one".into(),
                        next: "start another receiver".into(),
                    };
                    stranger.link.fail(why.to_string());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(StreamError::Stopped),
            }
        }
        Ok(others.into_values().collect())
    }

    /// Takes what comes on all connections.
    fn data(&self, first: &mut Link, hello: &Hello, target: &Target<'_>) -> Result<Sum, StreamError> {
        first.send(&Frame::Ready)?;
        let mut others = self.others(hello)?;
        let (tls_version, cipher_suite) =
            others.first().map(|link| version_and_suite(link.stream().ssl())).unwrap_or_default();
        let times = target.times();
        for link in &mut others {
            link.is_timed_by(times);
        }
        let (given_up, kept_bytes) = (GivenUp::default(), AtomicU64::new(0));
        let under_way = AtomicUsize::new(others.len());
        let progress = self.progress;
        let (mut sum, mut failed): (u64, Option<StreamError>) = (0, None);
        let mut told = Ok(());
        std::thread::scope(|scope| {
            let threads: Vec<_> = others
                .into_iter()
                .map(|mut link| {
                    let (given_up, under_way, kept_bytes) = (&given_up, &under_way, &kept_bytes);
                    scope.spawn(move || {
                        let taken = target.take(&mut link, progress, given_up, kept_bytes);
                        let taken = taken.inspect_err(|error| link.fail(given_up.because(error)));
                        under_way.fetch_sub(1, Ordering::Relaxed);
                        taken
                    })
                })
                .collect();
            let (mut look, mut looked) = (Look::new(), Instant::now());
            while under_way.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(Duration::from_millis(2));
                if looked.elapsed() > STATUS_EVERY {
                    looked = Instant::now();
                    let shares = look.shares(times, hello.connections);
                    if told.is_ok() {
                        told =
                            first.send(&Frame::Status { waiting: shares.receiving, writing: shares.writing });
                    }
                }
            }
            for thread in threads {
                match thread.join().unwrap_or(Err(StreamError::Stopped)) {
                    Ok(bytes) => sum = sum.saturating_add(bytes),
                    Err(error) => {
                        if !matches!(
                            (&failed, &error),
                            (Some(StreamError::Target { .. } | StreamError::Peer { .. }), _)
                                | (Some(_), StreamError::Stopped)
                        ) {
                            failed = Some(error);
                        }
                    }
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        told?;
        let kept_bytes = kept_bytes.load(Ordering::Relaxed);
        Ok(Sum { data_bytes: sum, kept_bytes, tls_version, cipher_suite })
    }

    /// While something takes its time, the sender is told so.
    fn working(
        first: &mut Link,
        what: impl FnOnce() -> Result<(), StreamError> + Send,
    ) -> Result<(), StreamError> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(what);
            let mut told = Instant::now();
            while !thread.is_finished() {
                std::thread::sleep(Duration::from_millis(2));
                if told.elapsed() > WORKING_EVERY {
                    told = Instant::now();
                    // If nobody hears it, what is done is done all the same.
                    let _ = first.send(&Frame::Working);
                }
            }
            thread.join().unwrap_or(Err(StreamError::Stopped))
        })
    }
}

/// What came on all connections.
struct Sum {
    data_bytes: u64,
    /// What was here already, of a copy that was resumed.
    kept_bytes: u64,
    tls_version: String,
    cipher_suite: String,
}

/// What is done with pieces.
enum Target<'t> {
    Tree(&'t Landing),
    Archive(&'t Landing, &'t Archive),
    Bytes(&'t Ordered, &'t std::sync::Arc<Times>),
}

impl Target<'_> {
    fn times(&self) -> &std::sync::Arc<Times> {
        match self {
            Self::Tree(landing) | Self::Archive(landing, _) => &landing.times,
            Self::Bytes(_, times) => times,
        }
    }

    /// All that comes on one connection.
    fn take(
        &self,
        link: &mut Link,
        progress: &Progress,
        given_up: &GivenUp,
        kept_bytes: &AtomicU64,
    ) -> Result<u64, StreamError> {
        let mut taker = match self {
            Self::Tree(landing) => Taker::Tree(Pieces::new(landing, true)),
            Self::Archive(landing, archive) => {
                Taker::Archive(Pieces::new(landing, false), archive.connection())
            }
            Self::Bytes(ordered, _) => Taker::Bytes(deliver::Pieces::new(ordered)),
        };
        let mut data_bytes: u64 = 0;
        loop {
            if progress.is_stopped() || given_up.is_so() {
                return Err(StreamError::Stopped);
            }
            let frame = link.receive()?;
            let count = match &frame {
                Frame::Data { bytes, .. } => bytes.len() as u64,
                Frame::Packed { plain_bytes, .. } => *plain_bytes as u64,
                Frame::Digest { .. } => 0,
                // It looks whether its directory is still what it announced.
                Frame::Working => continue,
                // Those of a cell that is the same here are not sent.
                Frame::Same { bytes } => {
                    kept_bytes.fetch_add(*bytes, Ordering::Relaxed);
                    progress.add(*bytes);
                    continue;
                }
                Frame::End { data_bytes: sent } if *sent == data_bytes => {
                    taker.end()?;
                    return Ok(data_bytes);
                }
                _ => return Err(link.unexpected("anything but pieces of files, to the last one")),
            };
            taker.take(&frame)?;
            data_bytes = data_bytes.saturating_add(count);
            progress.add(count);
        }
    }
}

enum Taker<'t> {
    Tree(Pieces<'t>),
    Archive(Pieces<'t>, target::Connection<'t>),
    Bytes(deliver::Pieces<'t>),
}

impl Taker<'_> {
    fn take(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        match self {
            Self::Tree(pieces) => pieces.take(frame),
            Self::Archive(pieces, connection) => {
                pieces.take(frame)?;
                connection.take(frame)
            }
            Self::Bytes(pieces) => pieces.take(frame),
        }
    }

    fn end(&mut self) -> Result<(), StreamError> {
        match self {
            Self::Tree(pieces) => pieces.end_cell(),
            Self::Archive(pieces, connection) => {
                pieces.end_cell();
                connection.flush()?;
            }
            Self::Bytes(_) => {}
        }
        Ok(())
    }
}

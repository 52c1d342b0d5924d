//! One copy, from the first connection to the last word.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::deliver::{self, Delivery};
use super::target::{self, Archive};
use super::{ARRIVED_POLL, Arrived, Into};
use crate::cipher::Speeds;
use crate::frame::{Content, Frame, Hello};
use crate::landing::{Landing, Pieces, lay_mark};
use crate::link::Link;
use crate::ordered::Ordered;
use crate::progress::{GivenUp, Progress};
use crate::times::{Look, Times};
use crate::{StreamError, Summary};

const WORKING_EVERY: Duration = Duration::from_secs(5);
const STATUS_EVERY: Duration = Duration::from_millis(500);
/// Behind a failure, so long connections have to tell it and to end by themselves.
const GRACE: Duration = Duration::from_secs(5);
/// Connections whose place another one has taken, and whose last bytes are still read here.
const RENEWED_AT_ONCE: usize = 16;
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
            match self.arrived.recv_timeout(ARRIVED_POLL) {
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
            (Content::Tree, Into::Directory { root, layers }) => {
                layers.refuse_in("a directory")?;
                self.tree(first, hello, &root)
            }
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
            match &sum {
                Ok(_) => ordered.end(),
                Err(error) => ordered.fail_connection(&error.to_string()),
            }
            let delivered = Self::working(first, || {
                // Whatever the connections said, what became of it is what counts.
                thread.join().unwrap_or(Err(StreamError::Stopped))
            });
            let sum = match (sum, delivered) {
                // The connections failed because nobody took what they brought.
                (_, Err(error)) if !ordered.was_connection() => return Err(error),
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
            renewed: sum.renewed,
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
            match self.arrived.recv_timeout(ARRIVED_POLL) {
                Ok(arrived) if arrived.hello.session == hello.session && arrived.hello.connection > 0 => {
                    let arrived = self.greeted(arrived)?;
                    others.insert(arrived.hello.connection, arrived.link);
                }
                Ok(stranger) => turn_away(stranger),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(StreamError::Stopped),
            }
        }
        Ok(others.into_values().collect())
    }

    /// One that takes the place of another connection of this copy, whose end comes only when this one has its answer.
    fn renewed(&self, hello: &Hello, under_way: usize) -> Option<Link> {
        let arrived = self.arrived.try_recv().ok()?;
        let is_ours = arrived.hello.session == hello.session && arrived.hello.connection > 0;
        if !is_ours || under_way > 2 * usize::from(hello.connections) + RENEWED_AT_ONCE {
            turn_away(arrived);
            return None;
        }
        // A sender that did not wait for the answer fails, and says so on its other connections.
        self.greeted(arrived).ok().map(|arrived| arrived.link)
    }

    /// Takes what comes on all connections.
    fn data(&self, first: &mut Link, hello: &Hello, target: &Target<'_>) -> Result<Sum, StreamError> {
        first.send(&Frame::Ready)?;
        let others = self.others(hello)?;
        let (tls_version, cipher_suite) = others.first().map(Link::version_and_suite).unwrap_or_default();
        let times = target.times();
        let (given_up, kept_bytes) = (GivenUp::default(), AtomicU64::new(0));
        let under_way = AtomicUsize::new(others.len());
        let progress = self.progress;
        let (mut sum, mut failed): (u64, Option<StreamError>) = (0, None);
        let mut told = Ok(());
        let mut renewed = 0;
        let mut sockets: Vec<TcpStream> = others.iter().filter_map(|link| link.socket().ok()).collect();
        let mut over: Option<Instant> = None;
        std::thread::scope(|scope| {
            let take = |mut link: Link| {
                let (given_up, under_way, kept_bytes) = (&given_up, &under_way, &kept_bytes);
                scope.spawn(move || {
                    link.is_timed_by(target.times());
                    let taken = target.take(&mut link, progress, given_up, kept_bytes);
                    let taken = taken.inspect_err(|error| {
                        target.fail(error);
                        link.fail(given_up.because(error));
                    });
                    under_way.fetch_sub(1, Ordering::Relaxed);
                    taken
                })
            };
            let mut threads: Vec<_> = others.into_iter().map(take).collect();
            let (mut look, mut looked) = (Look::new(), Instant::now());
            while under_way.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(Duration::from_millis(2));
                if over.is_none() && (progress.is_stopped() || given_up.is_so()) {
                    over = Some(Instant::now());
                    target.fail(&StreamError::Stopped);
                }
                // Nothing comes on it but that the sender is gone, also where all others wait for whoever takes what they bring.
                if over.is_none() && first.has_news() {
                    let gone = match first.receive() {
                        Err(error) => error,
                        Ok(_) => first.unexpected("a word there"),
                    };
                    given_up.because(&gone);
                    target.fail(&gone);
                    failed = Some(gone);
                }
                // Whoever hears nothing would hear it for two minutes.
                if over.is_some_and(|over| over.elapsed() > GRACE) {
                    for socket in sockets.drain(..) {
                        let _ = socket.shutdown(Shutdown::Both);
                    }
                }
                if let Some(link) = self.renewed(hello, under_way.load(Ordering::Relaxed)) {
                    sockets.extend(link.socket());
                    under_way.fetch_add(1, Ordering::Relaxed);
                    renewed += 1;
                    threads.push(take(link));
                }
                if looked.elapsed() > STATUS_EVERY && over.is_none() {
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
        Ok(Sum { data_bytes: sum, kept_bytes, renewed, tls_version, cipher_suite })
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

fn turn_away(mut stranger: Arrived) {
    let why = StreamError::Setup {
        what: "this receiver is busy with another copy".into(),
        why: "it takes one".into(),
        next: "start another receiver".into(),
    };
    stranger.link.fail(why.to_string());
}

/// What came on all connections.
struct Sum {
    data_bytes: u64,
    /// What was here already, of a copy that was resumed.
    kept_bytes: u64,
    renewed: u64,
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
    /// No more will come.
    fn fail(&self, why: &StreamError) {
        if let Self::Bytes(ordered, _) = self {
            ordered.fail_connection(&why.to_string());
        }
    }

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

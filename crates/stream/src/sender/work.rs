//! What connections send: cells of files, or pieces of what a program writes, for whichever connection is free.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Compress;
use crate::StreamError;
use crate::cells::{self, CELL_BYTES, Digest};
use crate::entry::{Entry, Kind};
use crate::frame::{self, Frame};
use crate::limit::Limit;
use crate::link::Link;
use crate::packer::Packer;
use crate::progress::{GivenUp, Progress};
use crate::reading::{self, Cell, Piece, Room};
use crate::times::{Bottleneck, Spent, Times};
use crate::tree::Tree;

const WORKING_EVERY: Duration = Duration::from_secs(5);
/// So many pieces in a row that did not become shorter, and the next ones are not tried.
const TRIED_IN_VAIN: u32 = 8;
const NOT_TRIED: u32 = 64;

/// What all connections of a copy share.
pub struct Common<'c> {
    pub progress: &'c Progress,
    pub given_up: Arc<GivenUp>,
    pub times: Arc<Times>,
    pub limit: Limit,
    pub compress: Compress,
    pub renewal: Renewal<'c>,
}

/// A new connection for one whose key has encrypted enough: OpenSSL's `SSL_key_update` is not in the crate, and a connection costs a
/// millisecond.
pub struct Renewal<'c> {
    pub after_bytes: u64,
    pub count: AtomicU64,
    pub connect: Box<dyn Fn() -> Result<Link, StreamError> + Sync + 'c>,
}

/// What a connection, and those whose place it took, have sent.
pub struct Sent {
    pub all: u64,
    /// Of the last of them.
    pub on_link: u64,
}

impl Common<'_> {
    fn is_over(&self) -> bool {
        self.progress.is_stopped() || self.given_up.is_so()
    }
}

pub trait Work: Sync {
    /// Sends until there is nothing left; returns how many bytes it was. The [`Frame::End`] is sent when all have come so far.
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<Sent, StreamError>;
}

/// Pieces onto one connection.
struct Outlet<'o> {
    link: &'o mut Link,
    common: &'o Common<'o>,
    packer: Option<Packer>,
    is_packing: bool,
    in_vain: u32,
    /// On this connection.
    data_bytes: u64,
    /// On those before it.
    before_bytes: u64,
    /// What the key of this connection has encrypted, next to nothing left out.
    sealed_bytes: u64,
    told: Instant,
}

impl<'o> Outlet<'o> {
    fn new(link: &'o mut Link, common: &'o Common<'o>) -> Result<Self, StreamError> {
        let packer = match common.compress {
            Compress::None => None,
            Compress::Auto | Compress::Zstd => Some(Packer::new()?),
        };
        let is_packing = common.compress == Compress::Zstd;
        Ok(Self {
            link,
            common,
            packer,
            is_packing,
            in_vain: 0,
            data_bytes: 0,
            before_bytes: 0,
            sealed_bytes: 0,
            told: Instant::now(),
        })
    }

    /// Whether the next piece is compressed: that pays where the line is slower than the processors.
    fn decide(&mut self) {
        if self.common.compress != Compress::Auto {
            return;
        }
        match self.common.progress.bottleneck() {
            Bottleneck::Network | Bottleneck::RateLimit => self.is_packing = true,
            Bottleneck::SenderProcessor | Bottleneck::ReceiverProcessor => self.is_packing = false,
            Bottleneck::Unknown | Bottleneck::SourceDisk | Bottleneck::TargetDisk => {}
        }
    }

    /// The receiver has nothing to say here now but that it gives up.
    fn hears_nothing(&mut self) -> Result<(), StreamError> {
        if !self.link.has_news() {
            return Ok(());
        }
        self.link.receive()?;
        Err(self.link.unexpected("an answer"))
    }

    fn piece(&mut self, mut piece: Piece<'_>) -> Result<(), StreamError> {
        if self.common.is_over() {
            return Err(StreamError::Stopped);
        }
        self.hears_nothing()?;
        self.decide();
        let length = piece.bytes().len() as u64;
        let tries = self.is_packing && self.in_vain < TRIED_IN_VAIN;
        self.in_vain = if self.in_vain >= TRIED_IN_VAIN + NOT_TRIED { 0 } else { self.in_vain };
        let packed = match &mut self.packer {
            Some(packer) if tries => packer.frame(piece.entry, piece.offset, piece.bytes()),
            _ => None,
        };
        self.in_vain = if packed.is_some() { 0 } else { self.in_vain + u32::from(self.is_packing) };
        let framed = match packed {
            Some(framed) => framed,
            None => piece.frame(),
        };
        if self.common.limit.is_one() {
            let _timer = self.common.times.timer(Spent::Limited);
            self.common.limit.pass(framed.len(), &|| self.common.is_over());
        }
        self.link.send_bytes(framed)?;
        self.sealed_bytes += framed.len() as u64;
        self.data_bytes += length;
        self.common.progress.add(length);
        self.told = Instant::now();
        Ok(())
    }

    fn send(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        self.link.send_bytes(&frame::encode(frame))
    }

    /// Between two cells, of which each travels on one connection: another one goes on where this key has encrypted enough. The receiver
    /// has the new one before it hears the end of the old one, so that it never has none.
    fn renew(&mut self) -> Result<(), StreamError> {
        if self.sealed_bytes < self.common.renewal.after_bytes {
            return Ok(());
        }
        let mut next = (self.common.renewal.connect)()?;
        next.is_timed_by(&self.common.times);
        self.link.send(&Frame::End { data_bytes: self.data_bytes })?;
        *self.link = next;
        self.common.renewal.count.fetch_add(1, Ordering::Relaxed);
        self.before_bytes += std::mem::take(&mut self.data_bytes);
        self.sealed_bytes = 0;
        Ok(())
    }

    /// Nothing is left.
    fn finish(self) -> Result<Sent, StreamError> {
        self.link.flush()?;
        Ok(Sent { all: self.before_bytes + self.data_bytes, on_link: self.data_bytes })
    }

    /// Holes are read for long without a word.
    fn still_here(&mut self) -> Result<(), StreamError> {
        if self.common.is_over() {
            return Err(StreamError::Stopped);
        }
        self.hears_nothing()?;
        if self.told.elapsed() > WORKING_EVERY {
            self.told = Instant::now();
            self.link.send(&Frame::Working)?;
        }
        Ok(())
    }
}

/// The files of a directory.
pub struct Files<'t> {
    root: &'t Path,
    entries: &'t [Entry],
    changed: &'t [(i64, i64)],
    /// Cells that the receiver has, and what they are there.
    there: HashMap<(u64, u64), Digest>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of the next file.
    next: usize,
    open: Option<(Arc<Open>, u64)>,
}

/// A file whose cells are being sent.
struct Open {
    at: usize,
    file: File,
    full: PathBuf,
    size_bytes: u64,
    sent: Mutex<CellsSent>,
}

struct CellsSent {
    left: u64,
    digests: Vec<Digest>,
}

impl<'t> Files<'t> {
    pub fn new(root: &'t Path, tree: &'t Tree, there: HashMap<(u64, u64), Digest>) -> Self {
        Self { root, entries: &tree.entries, changed: &tree.changed, there, state: Mutex::default() }
    }

    fn changed_at(&self, at: usize) -> (i64, i64) {
        self.changed.get(at).copied().unwrap_or_default()
    }

    /// The next cell; files are opened one after the other.
    fn next(&self) -> Result<Option<(Arc<Open>, u64)>, StreamError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((open, cell)) = state.open.take() {
                if cell + 1 < cells::count(open.size_bytes) {
                    state.open = Some((Arc::clone(&open), cell + 1));
                }
                return Ok(Some((open, cell)));
            }
            let at = state.next;
            let Some(entry) = self.entries.get(at) else { return Ok(None) };
            state.next += 1;
            if entry.kind == Kind::File {
                let full = self.root.join(&entry.path);
                let file = reading::open(&full, entry, self.changed_at(at))?;
                let size_bytes = entry.size_bytes;
                // One that is empty has a digest all the same.
                let left = cells::count(size_bytes).max(1);
                let digests = vec![[0; 32]; usize::try_from(left).unwrap_or(0)];
                let sent = Mutex::new(CellsSent { left, digests });
                state.open = Some((Arc::new(Open { at, file, full, size_bytes, sent }), 0));
            }
        }
    }

    /// One cell is sent; with the last one, the digest of the file goes.
    fn cell_sent(
        &self,
        open: &Open,
        cell: u64,
        digest: Digest,
        out: &mut Outlet<'_>,
    ) -> Result<(), StreamError> {
        let mut sent = open.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = usize::try_from(cell).ok().and_then(|cell| sent.digests.get_mut(cell)) {
            *place = digest;
        }
        sent.left = sent.left.saturating_sub(1);
        if sent.left > 0 {
            return Ok(());
        }
        if let Some(known) = self.entries.get(open.at) {
            reading::still(&open.file, &open.full, known, self.changed_at(open.at))?;
        }
        let mut cell = |cell: u64| {
            let at = usize::try_from(cell).unwrap_or(usize::MAX);
            sent.digests.get(at).copied().ok_or(StreamError::Stopped)
        };
        let digest = cells::file_digest(open.size_bytes, &mut cell)?;
        out.send(&Frame::Digest { entry: open.at as u64, size_bytes: open.size_bytes, digest })
    }
}

impl Work for Files<'_> {
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<Sent, StreamError> {
        let mut out = Outlet::new(link, common)?;
        let mut room = Room::default();
        while let Some((open, cell)) = self.next()? {
            out.renew()?;
            out.still_here()?;
            let entry = open.at as u64;
            let size_bytes = open.size_bytes;
            let one = Cell {
                file: &open.file,
                full: &open.full,
                entry,
                size_bytes,
                number: cell,
                times: &common.times,
            };
            let digest = if size_bytes == 0 {
                blake3::hash(b"").into()
            } else if let Some(there) = self.there.get(&(entry, cell)) {
                let digest = one.read_unless(there, &mut room, &mut |piece| out.piece(piece))?;
                if digest == *there {
                    let bytes = (size_bytes - cell * CELL_BYTES).min(CELL_BYTES);
                    common.progress.add(bytes);
                    out.send(&Frame::Same { bytes })?;
                }
                digest
            } else {
                one.read(&mut room, &mut |piece| out.piece(piece))?
            };
            self.cell_sent(&open, cell, digest, &mut out)?;
        }
        out.finish()
    }
}

type EndedWell = Box<dyn FnOnce() -> Result<(), StreamError> + Send>;

/// What a program writes. Whoever is free reads the next piece: reading is never what all wait for at once.
pub struct Stream(Mutex<Source>);

struct Source {
    read: Box<dyn Read + Send>,
    ended_well: Option<EndedWell>,
    offset: u64,
    hasher: blake3::Hasher,
    /// Nothing more comes of it.
    is_read: bool,
    /// And it has ended as it should.
    is_over: bool,
}

impl Stream {
    /// `read` may say [`std::io::ErrorKind::WouldBlock`] where nothing comes for a while.
    pub fn new(read: Box<dyn Read + Send>, ended_well: EndedWell) -> Self {
        let hasher = blake3::Hasher::new();
        let ended_well = Some(ended_well);
        Self(Mutex::new(Source { read, ended_well, offset: 0, hasher, is_read: false, is_over: false }))
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program may take its time between its last byte and its end.
fn wait_for_end(ended_well: EndedWell, out: &mut Outlet<'_>) -> Result<(), StreamError> {
    let (done, ended) = std::sync::mpsc::channel();
    // Who waits for a program that does not end is left behind.
    std::thread::spawn(move || done.send(ended_well()));
    loop {
        match ended.recv_timeout(TURN) {
            Ok(well) => return well,
            Err(RecvTimeoutError::Timeout) => out.still_here()?,
            Err(RecvTimeoutError::Disconnected) => return Err(StreamError::Stopped),
        }
    }
}

/// Nothing came: so long somebody else may look, and hear whether the receiver is still there.
const TURN: Duration = Duration::from_millis(5);

/// What comes next of it.
enum Next<'r> {
    Piece(Piece<'r>),
    /// All came, and it must still end well.
    Whole(EndedWell),
    /// Not now.
    Later,
    Nothing,
}

impl Source {
    fn next<'r>(&mut self, room: &'r mut Room) -> Result<Next<'r>, StreamError> {
        if self.is_over {
            return Ok(Next::Nothing);
        }
        if self.is_read {
            return Ok(Next::Later);
        }
        let piece = match room.fill(0, self.offset, &mut self.read) {
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(Next::Later),
            Err(error) => {
                return Err(StreamError::Source {
                    what: "what the program writes".into(),
                    why: error.to_string(),
                    next: "check it, and send it again; nothing of this copy counts".into(),
                });
            }
        };
        if piece.bytes().is_empty() {
            self.is_read = true;
            return Ok(self.ended_well.take().map_or(Next::Later, Next::Whole));
        }
        // In the order in which it is read.
        self.hasher.update(piece.bytes());
        self.offset += piece.bytes().len() as u64;
        Ok(Next::Piece(piece))
    }
}

impl Work for Stream {
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<Sent, StreamError> {
        let mut out = Outlet::new(link, common)?;
        let mut room = Room::default();
        loop {
            out.renew()?;
            let next = {
                let _timer = common.times.timer(Spent::Reading);
                self.source().next(&mut room)?
            };
            match next {
                Next::Piece(piece) => out.piece(piece)?,
                Next::Whole(ended_well) => {
                    wait_for_end(ended_well, &mut out)?;
                    let mut source = self.source();
                    source.is_over = true;
                    let (size_bytes, digest) = (source.offset, source.hasher.finalize().into());
                    drop(source);
                    out.send(&Frame::Digest { entry: 0, size_bytes, digest })?;
                    break;
                }
                Next::Later => {
                    // What came so far is not kept from whoever waits for it.
                    out.link.flush()?;
                    out.still_here()?;
                    std::thread::sleep(TURN);
                }
                Next::Nothing => break,
            }
        }
        out.finish()
    }
}

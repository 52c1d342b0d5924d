//! What connections send: cells of files, or pieces of what a program writes, for whichever connection is free.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
}

impl Common<'_> {
    fn is_over(&self) -> bool {
        self.progress.is_stopped() || self.given_up.is_so()
    }
}

pub trait Work: Sync {
    /// Sends until there is nothing left; returns how many bytes it was. The [`Frame::End`] is sent when all have come so far.
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<u64, StreamError>;
}

/// Pieces onto one connection.
struct Outlet<'o> {
    link: &'o mut Link,
    common: &'o Common<'o>,
    packer: Option<Packer>,
    is_packing: bool,
    in_vain: u32,
    data_bytes: u64,
    told: Instant,
}

impl<'o> Outlet<'o> {
    fn new(link: &'o mut Link, common: &'o Common<'o>) -> Result<Self, StreamError> {
        let packer = match common.compress {
            Compress::None => None,
            Compress::Auto | Compress::Zstd => Some(Packer::new()?),
        };
        let is_packing = common.compress == Compress::Zstd;
        Ok(Self { link, common, packer, is_packing, in_vain: 0, data_bytes: 0, told: Instant::now() })
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

    fn piece(&mut self, mut piece: Piece<'_>) -> Result<(), StreamError> {
        if self.common.is_over() {
            return Err(StreamError::Stopped);
        }
        if self.link.has_news() {
            // It has nothing to say now but that it gives up.
            self.link.receive()?;
            return Err(self.link.unexpected("an answer"));
        }
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
        self.data_bytes += length;
        self.common.progress.add(length);
        self.told = Instant::now();
        Ok(())
    }

    fn send(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        self.link.send_bytes(&frame::encode(frame))
    }

    /// Holes are read for long without a word.
    fn still_here(&mut self) -> Result<(), StreamError> {
        if self.common.is_over() {
            return Err(StreamError::Stopped);
        }
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
    sent: Mutex<Sent>,
}

struct Sent {
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
                let sent = Mutex::new(Sent { left, digests });
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
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<u64, StreamError> {
        let mut out = Outlet::new(link, common)?;
        let mut room = Room::default();
        while let Some((open, cell)) = self.next()? {
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
        let data_bytes = out.data_bytes;
        link.flush()?;
        Ok(data_bytes)
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
    is_over: bool,
}

impl Stream {
    pub fn new(read: Box<dyn Read + Send>, ended_well: EndedWell) -> Self {
        let hasher = blake3::Hasher::new();
        Self(Mutex::new(Source { read, ended_well: Some(ended_well), offset: 0, hasher, is_over: false }))
    }
}

/// What comes next of it.
enum Next<'r> {
    Piece(Piece<'r>),
    /// All came: how much, and what it is.
    Whole {
        size_bytes: u64,
        digest: Digest,
    },
    Nothing,
}

impl Source {
    fn next<'r>(&mut self, room: &'r mut Room) -> Result<Next<'r>, StreamError> {
        if self.is_over {
            return Ok(Next::Nothing);
        }
        let piece = room.fill(0, self.offset, &mut self.read).map_err(|error| StreamError::Source {
            what: "what the program writes".into(),
            why: error.to_string(),
            next: "check it, and send it again; nothing of this copy counts".into(),
        })?;
        if piece.bytes().is_empty() {
            self.is_over = true;
            self.ended_well.take().map_or(Ok(()), |ended_well| ended_well())?;
            return Ok(Next::Whole { size_bytes: self.offset, digest: self.hasher.finalize().into() });
        }
        // In the order in which it is read.
        self.hasher.update(piece.bytes());
        self.offset += piece.bytes().len() as u64;
        Ok(Next::Piece(piece))
    }
}

impl Work for Stream {
    fn send(&self, link: &mut Link, common: &Common<'_>) -> Result<u64, StreamError> {
        let mut out = Outlet::new(link, common)?;
        let mut room = Room::default();
        loop {
            let next = {
                let _timer = common.times.timer(Spent::Reading);
                self.0.lock().unwrap_or_else(PoisonError::into_inner).next(&mut room)?
            };
            match next {
                Next::Piece(piece) => out.piece(piece)?,
                Next::Whole { size_bytes, digest } => {
                    out.send(&Frame::Digest { entry: 0, size_bytes, digest })?;
                    break;
                }
                Next::Nothing => break,
            }
        }
        let data_bytes = out.data_bytes;
        link.flush()?;
        Ok(data_bytes)
    }
}

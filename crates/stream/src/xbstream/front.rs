//! What comes before a worker where a file has more than one layer: the outermost is taken off in a thread of its own. Most streams have their files
//! one behind the other, so that a file, not the number of files, is what keeps processors busy.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use formats::xbstream::{self, Kind};

use super::layers::{Layer, Sink};
use super::worker::{Job, Open, create, hold, in_its_place};
use super::{DAMAGED, at};
use crate::StreamError;
use crate::xbstream::extract::{ExtractOptions, Extracted};
use crate::xbstream::place::Place;

/// As much is handed on at once: it stays in the processor's cache.
const PIECE_BYTES: usize = 512 << 10;
/// Pieces and chunks that wait for the worker.
const WAITING_MAX: usize = 2;

/// What a worker gets.
pub enum Part<'b> {
    /// Of a file with one layer or none, as it came.
    Chunk(Job<'b>),
    /// A file whose outermost layer is taken off already.
    Opened {
        number: u64,
        open: Open,
    },
    /// The first so many bytes.
    Piece {
        of: Origin,
        bytes: Vec<u8>,
        filled: usize,
    },
    Ended {
        of: Origin,
    },
}

/// Which chunk of the stream something came out of.
#[derive(Debug, Clone)]
pub struct Origin {
    pub number: u64,
    pub path: Vec<u8>,
    pub at_bytes: u64,
}

struct Outer {
    layer: Box<dyn Layer>,
    came_bytes: u64,
    held_bytes: usize,
}

pub struct Front<'w, 'b> {
    options: &'w ExtractOptions,
    place: &'w Place,
    held_bytes: &'w AtomicUsize,
    open: BTreeMap<u64, Outer>,
    parts: SyncSender<Part<'b>>,
    /// Of pieces that are written.
    free: Receiver<Vec<u8>>,
    pub done: Extracted,
}

/// Both ends: what the worker takes parts from, and where it puts the memory of pieces.
pub struct Behind<'b> {
    pub parts: Receiver<Part<'b>>,
    pub free: SyncSender<Vec<u8>>,
}

impl<'w, 'b> Front<'w, 'b> {
    pub fn new(
        options: &'w ExtractOptions,
        place: &'w Place,
        held_bytes: &'w AtomicUsize,
    ) -> (Self, Behind<'b>) {
        let (parts, arrived) = sync_channel(WAITING_MAX);
        let (freed, free) = sync_channel(WAITING_MAX + 1);
        let open = BTreeMap::new();
        let front = Self { options, place, held_bytes, open, parts, free, done: Extracted::default() };
        (front, Behind { parts: arrived, free: freed })
    }

    /// # Errors
    /// What is wrong with that chunk.
    pub fn run(&mut self, job: Job<'b>) -> Result<(), StreamError> {
        let number = job.number;
        if job.is_new {
            let (mut open, layers) = create(self.options, self.place, &job, &mut self.done)?;
            let mut layers = layers.into_iter();
            match (layers.next(), layers.len()) {
                (Some(layer), 1..) => {
                    open.layers = layers.collect();
                    self.open.insert(number, Outer { layer, came_bytes: 0, held_bytes: 0 });
                }
                (first, _) => open.layers = first.into_iter().collect(),
            }
            self.hand_on(Part::Opened { number, open })?;
        }
        let Some(outer) = self.open.get_mut(&number) else { return self.hand_on(Part::Chunk(job)) };
        let of = Origin { number, path: job.head.path.clone(), at_bytes: job.at_bytes };
        let damaged = |why: String| at(&of.path, of.at_bytes, why, DAMAGED);
        let body = xbstream::check(&job.head, &job.body.bytes);
        let body = body.map_err(|error| at(&of.path, of.at_bytes, error, DAMAGED))?;
        match job.head.kind {
            Kind::End => {
                outer.layer.finish().map_err(damaged)?;
                self.held_bytes.fetch_sub(outer.held_bytes, Ordering::Relaxed);
                self.open.remove(&number);
                return self.hand_on(Part::Ended { of });
            }
            Kind::Sparse => {
                return Err(damaged(super::worker::HOLES_INSIDE.into()));
            }
            _ => {}
        }
        in_its_place(&job, outer.came_bytes)?;
        outer.came_bytes = outer.came_bytes.saturating_add(body.payload.len() as u64);
        let mut pieces = Pieces {
            parts: &self.parts,
            free: &self.free,
            of: &of,
            piece: vec![],
            filled: 0,
            is_gone: false,
        };
        let pushed = outer.layer.push(body.payload, &mut pieces);
        pieces.hand_on();
        let is_gone = pieces.is_gone;
        pushed.map_err(damaged)?;
        let held = outer.layer.held_bytes();
        hold(self.held_bytes, &mut outer.held_bytes, held, &job.head.path, job.at_bytes)?;
        if is_gone { Err(gone(job.at_bytes)) } else { Ok(()) }
    }

    fn hand_on(&self, part: Part<'b>) -> Result<(), StreamError> {
        let begin = match &part {
            Part::Chunk(job) => job.at_bytes,
            Part::Opened { .. } => 0,
            Part::Piece { of, .. } | Part::Ended { of } => of.at_bytes,
        };
        self.parts.send(part).map_err(|_| gone(begin))
    }
}

/// What comes out of one chunk, in pieces.
struct Pieces<'p, 'b> {
    parts: &'p SyncSender<Part<'b>>,
    free: &'p Receiver<Vec<u8>>,
    of: &'p Origin,
    /// As long as a piece may be, or nothing.
    piece: Vec<u8>,
    filled: usize,
    is_gone: bool,
}

impl Pieces<'_, '_> {
    fn hand_on(&mut self) {
        if self.filled > 0 {
            let (bytes, filled) = (std::mem::take(&mut self.piece), std::mem::take(&mut self.filled));
            self.is_gone |= self.parts.send(Part::Piece { of: self.of.clone(), bytes, filled }).is_err();
        }
    }

    fn rest(&mut self) -> &mut [u8] {
        if self.piece.is_empty() {
            self.piece = match self.free.try_recv() {
                Ok(bytes) => bytes,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => vec![0; PIECE_BYTES],
            };
        }
        self.piece.get_mut(self.filled..).unwrap_or_default()
    }
}

impl Sink for Pieces<'_, '_> {
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            let rest = self.rest();
            let (now, later) = bytes.split_at(bytes.len().min(rest.len()));
            let (into, _) = rest.split_at_mut(now.len());
            into.copy_from_slice(now);
            bytes = later;
            self.made(now.len())?;
        }
        Ok(())
    }

    fn room(&mut self, at_least: usize) -> &mut [u8] {
        if at_least > PIECE_BYTES {
            return &mut [];
        }
        if self.rest().len() < at_least {
            self.hand_on();
        }
        self.rest()
    }

    fn made(&mut self, count: usize) -> Result<(), String> {
        self.filled += count;
        if self.filled >= PIECE_BYTES {
            self.hand_on();
        }
        Ok(())
    }
}

fn gone(begin: u64) -> StreamError {
    at(b"", begin, "a worker of sealion ended", "report it")
}

//! What comes of files: hashed, written, and noted for the check at the end.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::{DIRECT_BYTES_MIN, Landing, nonsense, target};
use crate::StreamError;
use crate::aligned::Aligned;
use crate::cells::{CELL_BYTES, CellHasher, Digest};
use crate::direct::DirectFile;
use crate::entry::{Entry, Kind};
use crate::frame::{DATA_BYTES_MAX, Frame};
use crate::times::Spent;

/// Pieces of files, as one connection (or an archive) brings them: those of a cell in their order.
pub struct Pieces<'l> {
    landing: &'l Landing,
    open: Option<Open>,
    cell: Option<(usize, u64, CellHasher)>,
    unpacked: Aligned,
    unpacker: Unpacker,
    /// What the sender's bytes may be written from, past the page cache.
    is_aligned: bool,
}

impl<'l> Pieces<'l> {
    pub fn new(landing: &'l Landing, is_aligned: bool) -> Self {
        Self {
            landing,
            open: None,
            cell: None,
            unpacked: Aligned::new(0, DATA_BYTES_MAX),
            unpacker: Unpacker::default(),
            is_aligned,
        }
    }

    /// A piece, or the digest of a file.
    pub fn take(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        match frame {
            Frame::Data { entry, offset, bytes } => self.data(*entry, *offset, bytes),
            Frame::Packed { entry, offset, plain_bytes, packed } => {
                self.packed(*entry, *offset, *plain_bytes, packed)
            }
            Frame::Digest { entry, size_bytes, digest } => self.digest(*entry, *size_bytes, *digest),
            _ => Err(nonsense("something came that is no piece of a file")),
        }
    }

    fn packed(
        &mut self,
        entry: u64,
        offset: u64,
        plain_bytes: usize,
        packed: &[u8],
    ) -> Result<(), StreamError> {
        let mut room = std::mem::replace(&mut self.unpacked, Aligned::new(0, 0));
        let unpacked = self.unpacker.unpack(packed, room.first(plain_bytes.min(DATA_BYTES_MAX)));
        let written = unpacked
            .map_err(nonsense)
            .and_then(|()| self.data(entry, offset, room.first(plain_bytes.min(DATA_BYTES_MAX))));
        self.unpacked = room;
        written
    }

    fn data(&mut self, entry: u64, offset: u64, bytes: &[u8]) -> Result<(), StreamError> {
        let at = usize::try_from(entry).unwrap_or(usize::MAX);
        let known = self.landing.entries.get(at).filter(|known| known.kind == Kind::File);
        let known = known.ok_or_else(|| nonsense("a piece came of what is no file"))?;
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= known.size_bytes);
        let end = end.ok_or_else(|| nonsense("a piece came from behind the end of its file"))?;
        let cell = offset / CELL_BYTES;
        if end > (cell + 1) * CELL_BYTES {
            return Err(nonsense("a piece reaches over the end of its cell"));
        }
        if self.cell.as_ref().is_none_or(|(of, number, _)| (*of, *number) != (at, cell)) {
            self.end_cell();
            self.cell = Some((at, cell, CellHasher::new(known.size_bytes, cell)));
        }
        if let Some((_, _, hasher)) = &mut self.cell {
            if offset < hasher.at() {
                return Err(nonsense("a piece came twice, or in the wrong order"));
            }
            hasher.skip_to(offset);
            hasher.update(bytes);
        }
        if !self.landing.writes {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|open| open.at != at) {
            self.open = Some(Open::new(&self.landing.root, at, known, self.is_aligned)?);
        }
        let _timer = self.landing.times.timer(Spent::Writing);
        self.open.as_mut().map_or(Ok(()), |open| open.write(bytes, offset))
    }

    fn digest(&mut self, entry: u64, size_bytes: u64, digest: Digest) -> Result<(), StreamError> {
        self.end_cell();
        self.landing.note_digest(entry, size_bytes, digest)
    }

    /// Nothing more comes.
    pub fn end_cell(&mut self) {
        if let Some((at, cell, hasher)) = self.cell.take() {
            self.landing.note_cell(at, cell, hasher.finish());
        }
    }
}

/// A file that is being written.
struct Open {
    at: usize,
    full: PathBuf,
    file: DirectFile,
}

impl Open {
    fn new(root: &Path, at: usize, known: &Entry, is_aligned: bool) -> Result<Self, StreamError> {
        let full = root.join(&known.path);
        let file = OpenOptions::new().write(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(&full);
        let file = file.map_err(|error| target(&full, error))?;
        let is_direct = is_aligned && known.size_bytes >= DIRECT_BYTES_MIN;
        Ok(Self { at, full, file: DirectFile::new(file, is_direct) })
    }

    fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), StreamError> {
        self.file.write_all_at(bytes, offset).map_err(|error| target(&self.full, error))
    }
}

/// Frames of Zstandard, each by itself.
#[derive(Default)]
pub struct Unpacker(Option<zstd::bulk::Decompressor<'static>>);

impl Unpacker {
    /// Fills `into`, no more and no less.
    pub fn unpack(&mut self, packed: &[u8], into: &mut [u8]) -> Result<(), String> {
        let said = |error: io::Error| format!("a compressed piece cannot be decompressed: {error}");
        let decompressor = match &mut self.0 {
            Some(one) => one,
            none => none.insert(zstd::bulk::Decompressor::new().map_err(said)?),
        };
        let count = decompressor.decompress_to_buffer(packed, into).map_err(said)?;
        if count == into.len() {
            Ok(())
        } else {
            Err(format!("a compressed piece has {count} bytes, announced were {}", into.len()))
        }
    }
}

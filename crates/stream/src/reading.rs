//! A file of the source, cell by cell.

use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use crate::StreamError;
use crate::cells::{CELL_BYTES, CellHasher, Digest};
use crate::entry::Entry;
use crate::frame::{self, DATA_BYTES_MAX, DATA_HEAD_BYTES, HEADER_BYTES};
use crate::times::{Spent, Times};
use crate::tree;

const HEAD_BYTES: usize = HEADER_BYTES + DATA_HEAD_BYTES;

pub fn source(path: &Path, why: String) -> StreamError {
    StreamError::Source {
        what: path.display().to_string(),
        why,
        next: "stop what writes there, or copy a running server with its backup tool; nothing of this copy counts".into(),
    }
}

pub fn changed(path: &Path) -> StreamError {
    source(path, "it changed while the copy was under way".into())
}

/// Opens what was announced; never something else that took its place.
pub fn open(full: &Path, known: &Entry, when: (i64, i64)) -> Result<File, StreamError> {
    let cannot = |error: std::io::Error| source(full, error.to_string());
    let file = File::options()
        .read(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits() | OFlag::O_NONBLOCK.bits())
        .open(full)
        .map_err(cannot)?;
    // A page that somebody has mapped and written to already changes without a new time of the file, until it is written back.
    file.sync_data().map_err(cannot)?;
    still(&file, full, known, when)?;
    Ok(file)
}

/// # Errors
/// It is not what was announced any more.
pub fn still(file: &File, full: &Path, known: &Entry, when: (i64, i64)) -> Result<(), StreamError> {
    let about = file.metadata().map_err(|error| source(full, error.to_string()))?;
    if tree::is_as_announced(&about, known, when) { Ok(()) } else { Err(changed(full)) }
}

/// Room for one piece, behind the head of its frame.
pub struct Room(Vec<u8>);

impl Default for Room {
    fn default() -> Self {
        Self(vec![0; HEAD_BYTES + DATA_BYTES_MAX])
    }
}

impl Room {
    /// As many bytes as fit, or as there still are; of something that keeps its reader waiting, what there is by now.
    ///
    /// # Errors
    /// [`std::io::ErrorKind::WouldBlock`]: there is nothing yet.
    pub fn fill<'r>(
        &'r mut self,
        entry: u64,
        offset: u64,
        read: &mut dyn std::io::Read,
    ) -> std::io::Result<Piece<'r>> {
        let mut end = HEAD_BYTES;
        while let Some(rest) = self.0.get_mut(end..).filter(|rest| !rest.is_empty()) {
            match read.read(rest) {
                Ok(0) => break,
                Ok(count) => end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && end > HEAD_BYTES => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Piece { entry, offset, framed: self.0.get_mut(..end).unwrap_or_default() })
    }
}

/// Bytes of a file, with room for the head of a frame in front of them.
pub struct Piece<'r> {
    pub entry: u64,
    pub offset: u64,
    framed: &'r mut [u8],
}

impl Piece<'_> {
    pub fn bytes(&self) -> &[u8] {
        self.framed.get(HEAD_BYTES..).unwrap_or_default()
    }

    /// As a [`frame::Frame::Data`].
    pub fn frame(&mut self) -> &[u8] {
        let length = self.framed.len().saturating_sub(HEAD_BYTES);
        if let Some(head) = self.framed.first_chunk_mut::<HEAD_BYTES>() {
            *head = frame::data_head(self.entry, self.offset, length);
        }
        self.framed
    }
}

/// What is read.
pub struct Cell<'f> {
    pub file: &'f File,
    pub full: &'f Path,
    pub entry: u64,
    pub size_bytes: u64,
    /// From 0.
    pub number: u64,
    pub times: &'f Times,
}

impl Cell<'_> {
    fn end(&self) -> u64 {
        ((self.number + 1) * CELL_BYTES).min(self.size_bytes)
    }

    fn fill(&self, bytes: &mut [u8], offset: u64) -> Result<(), StreamError> {
        let _timer = self.times.timer(Spent::Reading);
        self.file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => changed(self.full),
            _ => source(self.full, error.to_string()),
        })
    }

    /// Hands on what is not a hole, piece by piece; returns the digest of all of it.
    pub fn read(
        &self,
        room: &mut Room,
        each: &mut dyn FnMut(Piece<'_>) -> Result<(), StreamError>,
    ) -> Result<Digest, StreamError> {
        let mut hasher = CellHasher::new(self.size_bytes, self.number);
        let cannot = |error: std::io::Error| source(self.full, error.to_string());
        while let Some((begin, end)) =
            tree::data_behind(self.file, hasher.at(), self.end()).map_err(cannot)?
        {
            hasher.skip_to(begin);
            while hasher.at() < end {
                let offset = hasher.at();
                let wanted = usize::try_from(end - offset).unwrap_or(usize::MAX).min(DATA_BYTES_MAX);
                let framed = room.0.get_mut(..HEAD_BYTES + wanted).unwrap_or_default();
                let bytes = framed.get_mut(HEAD_BYTES..).unwrap_or_default();
                self.fill(bytes, offset)?;
                hasher.update(bytes);
                each(Piece { entry: self.entry, offset, framed })?;
            }
        }
        Ok(hasher.finish())
    }

    /// The same where the other end has the cell already: nothing is handed on if it is the same there, and all of it, holes too, if not.
    pub fn read_unless(
        &self,
        has: &Digest,
        room: &mut Room,
        each: &mut dyn FnMut(Piece<'_>) -> Result<(), StreamError>,
    ) -> Result<Digest, StreamError> {
        let digest = self.read(room, &mut |_| Ok(()))?;
        if digest == *has {
            return Ok(digest);
        }
        let mut offset = self.number * CELL_BYTES;
        while offset < self.end() {
            let wanted = usize::try_from(self.end() - offset).unwrap_or(usize::MAX).min(DATA_BYTES_MAX);
            let framed = room.0.get_mut(..HEAD_BYTES + wanted).unwrap_or_default();
            self.fill(framed.get_mut(HEAD_BYTES..).unwrap_or_default(), offset)?;
            each(Piece { entry: self.entry, offset, framed })?;
            offset += wanted as u64;
        }
        Ok(digest)
    }
}

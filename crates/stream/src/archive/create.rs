//! A directory, or what a program writes, into an archive.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::chunks::CHUNK_BYTES;
use super::head::{Aead, Content};
use super::keys::Seal;
use super::sealed::{Random, Writer};
use crate::cells::{self, Digest};
use crate::cipher::{Speeds, Suite};
use crate::entry::{Entry, Kind};
use crate::frame::{self, DATA_BYTES_MAX, Frame};
use crate::landing::summary_of;
use crate::packer::Packer;
use crate::progress::Progress;
use crate::reading::{self, Cell, Room};
use crate::times::Times;
use crate::{StreamError, Summary, tree};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// Pieces that become shorter by it.
    #[default]
    Zstd,
    None,
}

pub struct CreateOptions {
    pub seal: Seal,
    /// `None`: the fastest one here.
    pub aead: Option<Aead>,
    pub packing: Packing,
}

/// Of a new archive: it gets its name when all of it is on the disk.
struct Output {
    path: PathBuf,
    partial: PathBuf,
    is_done: bool,
}

impl Output {
    fn new(path: &Path) -> Result<(Self, File), StreamError> {
        let refuse = |why: String, next: &str| StreamError::Setup {
            what: format!("cannot write {}", path.display()),
            why,
            next: next.into(),
        };
        if fs::symlink_metadata(path).is_ok() {
            return Err(refuse("it is there already".into(), "name another file"));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".sealion-incomplete");
        let partial = PathBuf::from(partial);
        let file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial).map_err(|error| {
                let next = "name another file; an archive that was not finished can be removed";
                refuse(format!("{}: {error}", partial.display()), next)
            })?;
        Ok((Self { path: path.to_owned(), partial, is_done: false }, file))
    }

    fn finish(mut self, file: &File) -> Result<(), StreamError> {
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        file.sync_all()
            // Nobody else's file is written over.
            .and_then(|()| fs::hard_link(&self.partial, &self.path))
            .and_then(|()| fs::remove_file(&self.partial))
            .and_then(|()| File::open(directory)?.sync_all())
            .map_err(|error| StreamError::Target {
                what: self.path.display().to_string(),
                why: error.to_string(),
                next: "make room or repair the disk, and begin again; no archive was made".into(),
            })?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

fn fastest() -> Aead {
    let here = Speeds::measure();
    match here.best_with(here) {
        Some(Suite::Chacha20) => Aead::Chacha20Poly1305,
        _ => Aead::Aes256Gcm,
    }
}

/// Pieces into frames into chunks.
struct Packed<W> {
    writer: Writer<W>,
    packer: Option<Packer>,
}

impl<W: Write> Packed<W> {
    fn new(
        out: W,
        path: &Path,
        options: &CreateOptions,
        content: Content,
        chunk_bytes: usize,
        random: &Random,
    ) -> Result<Self, StreamError> {
        let aead = options.aead.unwrap_or_else(fastest);
        let writer = Writer::new(out, path, &options.seal, aead, content, chunk_bytes, random)?;
        let packer = match options.packing {
            Packing::Zstd => Some(Packer::new()?),
            Packing::None => None,
        };
        Ok(Self { writer, packer })
    }

    fn list(&mut self, entries: &[Entry]) -> Result<(), StreamError> {
        frame::encode_entries(entries, |bytes| self.writer.write(&bytes))?;
        let size_bytes = summary_of(entries).size_bytes;
        self.writer.write(&frame::encode(&Frame::EntriesEnd { count: entries.len() as u64, size_bytes }))
    }

    fn end(mut self, data_bytes: u64) -> Result<(W, u64), StreamError> {
        self.writer.write(&frame::encode(&Frame::End { data_bytes }))?;
        self.writer.finish()
    }
}

/// An archive of a directory whose frames come from elsewhere.
pub struct Sealing<W> {
    output: Output,
    packed: Packed<W>,
}

impl Sealing<File> {
    pub fn new(path: &Path, options: &CreateOptions, entries: &[Entry]) -> Result<Self, StreamError> {
        let (output, file) = Output::new(path)?;
        let random = Random::new()?;
        let mut packed = Packed::new(file, path, options, Content::Tree, CHUNK_BYTES, &random)?;
        packed.list(entries)?;
        Ok(Self { output, packed })
    }

    /// Whole frames.
    pub fn write(&mut self, frames: &[u8]) -> Result<(), StreamError> {
        self.packed.writer.write(frames)
    }

    pub fn finish(self, data_bytes: u64) -> Result<(), StreamError> {
        let (file, _) = self.packed.end(data_bytes)?;
        self.output.finish(&file)
    }
}

/// Writes all of `from` into the new file `path`; returns what it was, and how long the archive is.
///
/// # Errors
/// There is no archive then.
pub fn create(
    from: &Path,
    path: &Path,
    options: &CreateOptions,
    progress: &Progress,
) -> Result<(Summary, u64), StreamError> {
    let (output, file) = Output::new(path)?;
    let random = Random::new()?;
    let (summary, file, bytes) = tree_into(from, file, path, options, CHUNK_BYTES, &random, progress)?;
    output.finish(&file)?;
    Ok((summary, bytes))
}

/// Writes what `read` has into the new file `path`. It is an archive only if `ended_well` says so behind the last byte: a program that
/// writes may have failed.
///
/// # Errors
/// There is no archive then.
pub fn create_of_bytes(
    read: &mut dyn Read,
    ended_well: &mut dyn FnMut() -> Result<(), StreamError>,
    path: &Path,
    options: &CreateOptions,
    progress: &Progress,
) -> Result<(Summary, u64), StreamError> {
    let (output, file) = Output::new(path)?;
    let random = Random::new()?;
    let (summary, file, bytes) =
        bytes_into(read, ended_well, file, path, options, CHUNK_BYTES, &random, progress)?;
    output.finish(&file)?;
    Ok((summary, bytes))
}

pub(super) fn tree_into<W: Write>(
    from: &Path,
    out: W,
    path: &Path,
    options: &CreateOptions,
    chunk_bytes: usize,
    random: &Random,
    progress: &Progress,
) -> Result<(Summary, W, u64), StreamError> {
    let tree = tree::walk(from)?;
    progress.set_total(tree.size_bytes);
    progress.begin();
    let mut packed = Packed::new(out, path, options, Content::Tree, chunk_bytes, random)?;
    packed.list(&tree.entries)?;
    let Packed { mut writer, mut packer } = packed;
    let (mut room, mut data_bytes, times) = (Room::default(), 0, Times::default());
    let files = tree.entries.iter().zip(&tree.changed).enumerate();
    for (at, (known, when)) in files.filter(|(_, (entry, _))| entry.kind == Kind::File) {
        let full = from.join(&known.path);
        let file = reading::open(&full, known, *when)?;
        let (entry, size_bytes) = (at as u64, known.size_bytes);
        let mut cell = |cell: u64| -> Result<Digest, StreamError> {
            let one = Cell { file: &file, full: &full, entry, size_bytes, number: cell, times: &times };
            one.read(&mut room, &mut |mut piece| {
                if progress.is_stopped() {
                    return Err(StreamError::Stopped);
                }
                let length = piece.bytes().len() as u64;
                let packed =
                    packer.as_mut().and_then(|packer| packer.frame(entry, piece.offset, piece.bytes()));
                match packed {
                    Some(frame) => writer.write(frame)?,
                    None => writer.write(piece.frame())?,
                }
                data_bytes += length;
                progress.add(length);
                Ok(())
            })
        };
        let digest = cells::file_digest(size_bytes, &mut cell)?;
        reading::still(&file, &full, known, *when)?;
        writer.write(&frame::encode(&Frame::Digest { entry, size_bytes, digest }))?;
    }
    if let Some(why) = tree::difference(&tree, &tree::walk(from)?) {
        return Err(reading::source(from, why));
    }
    let (out, bytes) = Packed { writer, packer }.end(data_bytes)?;
    let summary = Summary { data_bytes, left_out: tree.left_out, ..summary_of(&tree.entries) };
    Ok((summary, out, bytes))
}

#[allow(clippy::too_many_arguments)] // Two sources of bytes, and what an archive is made of.
pub(super) fn bytes_into<W: Write>(
    read: &mut dyn Read,
    ended_well: &mut dyn FnMut() -> Result<(), StreamError>,
    out: W,
    path: &Path,
    options: &CreateOptions,
    chunk_bytes: usize,
    random: &Random,
    progress: &Progress,
) -> Result<(Summary, W, u64), StreamError> {
    progress.begin();
    let Packed { mut writer, mut packer } =
        Packed::new(out, path, options, Content::Bytes, chunk_bytes, random)?;
    let (mut hasher, mut offset) = (blake3::Hasher::new(), 0_u64);
    let mut piece = Vec::with_capacity(DATA_BYTES_MAX);
    loop {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        piece.clear();
        Read::take(&mut *read, DATA_BYTES_MAX as u64).read_to_end(&mut piece).map_err(|error| {
            StreamError::Source {
                what: "standard input".into(),
                why: error.to_string(),
                next: "check what writes to it; no archive was made".into(),
            }
        })?;
        if piece.is_empty() {
            break;
        }
        hasher.update(&piece);
        if let Some(frame) = packer.as_mut().and_then(|packer| packer.frame(0, offset, &piece)) {
            writer.write(frame)?;
        } else {
            writer.write(&frame::data_head(0, offset, piece.len()))?;
            writer.write(&piece)?;
        }
        offset += piece.len() as u64;
        progress.add(piece.len() as u64);
    }
    ended_well()?;
    let digest = hasher.finalize().into();
    writer.write(&frame::encode(&Frame::Digest { entry: 0, size_bytes: offset, digest }))?;
    let (out, bytes) = Packed { writer, packer }.end(offset)?;
    let summary = Summary { files: 1, data_bytes: offset, size_bytes: offset, ..Summary::default() };
    Ok((summary, out, bytes))
}

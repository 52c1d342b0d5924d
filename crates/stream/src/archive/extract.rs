//! An archive into a directory, or into a program; or nowhere, only to check it.

use std::io::{Read, Write};
use std::path::Path;

use super::head::Content;
use super::keys::Keys;
use super::sealed::Reader;
use crate::entry::Entry;
use crate::frame::{self, DATA_BYTES_MAX, FRAME_BYTES_MAX, Frame, HEADER_BYTES};
use crate::landing::{Landing, Pieces, Unpacker, lay_mark, nonsense, prepare};
use crate::progress::Progress;
use crate::{StreamError, Summary};

/// Where what is in an archive goes.
pub enum Place<'p> {
    /// Not there, or empty. Of a directory.
    Directory(&'p Path),
    /// Of bytes.
    Writer(&'p mut dyn Write),
    /// Only checked.
    Nowhere,
}

/// What was in an archive.
pub struct Contents {
    pub content: Content,
    pub summary: Summary,
    /// Of a directory.
    pub entries: Vec<Entry>,
    pub archive_bytes: u64,
}

impl<R: Read> Reader<R> {
    /// The next frame, into `body`; `None`: all were read.
    fn frame<'b>(&mut self, body: &'b mut Vec<u8>) -> Result<Option<Frame<'b>>, StreamError> {
        let mut header = [0; HEADER_BYTES];
        if !self.read_exact(&mut header)? {
            return Ok(None);
        }
        let length = frame::body_bytes(header).map_err(|why| self.damaged(why))?;
        body.resize(length, 0);
        if length > 0 && !self.read_exact(body)? {
            return Err(self.damaged("it ends inside a record"));
        }
        let [kind, ..] = header;
        frame::parse(kind, body).map(Some).map_err(|why| self.damaged(why))
    }
}

/// Checks all of an archive: every chunk, every file.
///
/// # Errors
/// What is wrong with it, and where.
pub fn check(
    read: impl Read,
    path: &Path,
    keys: &Keys,
    progress: &Progress,
) -> Result<Contents, StreamError> {
    extract(read, path, keys, Place::Nowhere, progress)
}

/// Takes all out of an archive. `path` is how it is named to people.
///
/// # Errors
/// What was written stays; in a directory, with [`crate::landing::MARK`] in it.
pub fn extract(
    read: impl Read,
    path: &Path,
    keys: &Keys,
    place: Place<'_>,
    progress: &Progress,
) -> Result<Contents, StreamError> {
    progress.begin();
    let mut reader = Reader::new(read, path, keys)?;
    match (reader.head.content, place) {
        (Content::Tree, Place::Directory(root)) => {
            prepare(root, false)?;
            let mark = lay_mark(root, false)?;
            let (landing, data_bytes) = tree(&mut reader, Landing::new(root, false), progress)?;
            landing.finish(&mark, true)?;
            Ok(contents(&reader, &landing, data_bytes))
        }
        (Content::Tree, Place::Nowhere) => {
            let (landing, data_bytes) = tree(&mut reader, Landing::only_checked(path), progress)?;
            landing.check_all()?;
            Ok(contents(&reader, &landing, data_bytes))
        }
        (Content::Bytes, Place::Writer(out)) => bytes(&mut reader, Some(out), progress),
        (Content::Bytes, Place::Nowhere) => bytes(&mut reader, None, progress),
        (Content::Tree, Place::Writer(_)) => Err(StreamError::Setup {
            what: format!("{} cannot be written to a program", path.display()),
            why: "it holds a directory".into(),
            next: "extract it into a directory: --into DIR".into(),
        }),
        (Content::Bytes, Place::Directory(_)) => Err(StreamError::Setup {
            what: format!("{} cannot be extracted into a directory", path.display()),
            why: "it holds what a program has written".into(),
            next: "give it to one: --to-stdout | …".into(),
        }),
    }
}

fn contents<R: Read>(reader: &Reader<R>, landing: &Landing, data_bytes: u64) -> Contents {
    Contents {
        content: Content::Tree,
        summary: Summary { data_bytes, ..landing.summary() },
        entries: landing.entries().to_vec(),
        archive_bytes: reader.at_bytes(),
    }
}

/// A sender's nonsense is damage, here: who has the key made it so.
fn placed<R: Read>(reader: &Reader<R>, done: Result<(), StreamError>) -> Result<(), StreamError> {
    done.map_err(|error| match error {
        StreamError::Protocol { why, .. } => reader.damaged(why),
        other => other,
    })
}

fn tree<R: Read>(
    reader: &mut Reader<R>,
    mut landing: Landing,
    progress: &Progress,
) -> Result<(Landing, u64), StreamError> {
    let mut body = Vec::with_capacity(FRAME_BYTES_MAX);
    loop {
        match reader.frame(&mut body)? {
            Some(Frame::Entries(some)) => {
                let added = landing.add(some);
                placed(reader, added)?;
            }
            Some(Frame::EntriesEnd { count, size_bytes })
                if count == landing.entries().len() as u64 && size_bytes == landing.size_bytes() =>
            {
                break;
            }
            _ => return Err(reader.damaged("its list of files is none")),
        }
    }
    progress.set_total(landing.size_bytes());
    let mut data_bytes: u64 = 0;
    {
        let mut pieces = Pieces::new(&landing, false);
        loop {
            if progress.is_stopped() {
                return Err(StreamError::Stopped);
            }
            let frame = reader.frame(&mut body)?;
            let count = match &frame {
                Some(Frame::Data { bytes, .. }) => bytes.len(),
                Some(Frame::Packed { plain_bytes, .. }) => *plain_bytes,
                Some(Frame::Digest { .. }) => 0,
                Some(Frame::End { data_bytes: announced }) if *announced == data_bytes => break,
                _ => return Err(reader.damaged("its end record is missing, or another one")),
            };
            let done = frame.as_ref().map_or(Ok(()), |frame| pieces.take(frame));
            placed(reader, done)?;
            data_bytes = data_bytes.saturating_add(count as u64);
            progress.add(count as u64);
        }
        pieces.end_cell();
    }
    nothing_behind(reader, &mut body)?;
    Ok((landing, data_bytes))
}

fn nothing_behind<R: Read>(reader: &mut Reader<R>, body: &mut Vec<u8>) -> Result<(), StreamError> {
    match reader.frame(body)? {
        None => Ok(()),
        Some(_) => Err(reader.damaged("something is behind its end record")),
    }
}

fn bytes<R: Read>(
    reader: &mut Reader<R>,
    mut out: Option<&mut dyn Write>,
    progress: &Progress,
) -> Result<Contents, StreamError> {
    let cannot = |error: std::io::Error| StreamError::Target {
        what: "what is in the archive".into(),
        why: error.to_string(),
        next: "see why the program that reads it has ended; nothing that it was given counts".into(),
    };
    let mut body = Vec::with_capacity(FRAME_BYTES_MAX);
    let (mut plain, mut unpacker) = (vec![0; DATA_BYTES_MAX], Unpacker::default());
    let (mut at, mut hasher, mut is_checked) = (0_u64, blake3::Hasher::new(), false);
    loop {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        let frame = reader.frame(&mut body)?;
        let (offset, bytes) = match &frame {
            Some(Frame::Data { entry: 0, offset, bytes }) => (*offset, *bytes),
            Some(Frame::Packed { entry: 0, offset, plain_bytes, packed }) => {
                let room = plain.get_mut(..*plain_bytes).unwrap_or_default();
                placed(reader, unpacker.unpack(packed, room).map_err(nonsense))?;
                (*offset, &*room)
            }
            Some(Frame::Digest { entry: 0, size_bytes, digest })
                if *size_bytes == at && hasher.finalize().as_bytes() == digest =>
            {
                is_checked = true;
                continue;
            }
            Some(Frame::End { data_bytes }) if *data_bytes == at && is_checked => break,
            _ => return Err(reader.damaged("its end record is missing, or another one")),
        };
        if offset != at || is_checked {
            return Err(reader.damaged("a piece is not where it belongs"));
        }
        hasher.update(bytes);
        if let Some(out) = &mut out {
            out.write_all(bytes).map_err(cannot)?;
        }
        at += bytes.len() as u64;
        progress.add(bytes.len() as u64);
    }
    nothing_behind(reader, &mut body)?;
    if let Some(out) = &mut out {
        out.flush().map_err(cannot)?;
    }
    let summary = Summary { files: 1, data_bytes: at, size_bytes: at, ..Summary::default() };
    Ok(Contents { content: Content::Bytes, summary, entries: Vec::new(), archive_bytes: reader.at_bytes() })
}

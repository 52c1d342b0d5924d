//! Plain bytes in, chunks out, and the other way round.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::chunks::{ChunkError, Chunks, TAG_BYTES};
use super::head::{self, Aead, Content, HEAD_BYTES_MAX, Head, ID_BYTES, MAC_BYTES, Parsed};
use super::keys::{Derived, Keys, Seal};
use super::{damaged, no_crypto};
use crate::StreamError;

/// Why an archive cannot be written.
fn unwritable(path: &Path, error: &io::Error) -> StreamError {
    StreamError::Target {
        what: path.display().to_string(),
        why: error.to_string(),
        next: "make room or repair the disk, and begin again; no archive was made".into(),
    }
}

/// What of an archive is random.
pub struct Random {
    pub id: [u8; ID_BYTES],
    pub data_key: zeroize::Zeroizing<[u8; 32]>,
}

impl Random {
    pub fn new() -> Result<Self, StreamError> {
        let (mut id, mut data_key) = ([0; ID_BYTES], zeroize::Zeroizing::new([0; 32]));
        openssl::rand::rand_bytes(&mut id)
            .and_then(|()| openssl::rand::rand_bytes(&mut data_key[..]))
            .map_err(|error| no_crypto(&error))?;
        Ok(Self { id, data_key })
    }
}

pub struct Writer<W> {
    out: W,
    /// As it is named to people.
    path: PathBuf,
    chunks: Chunks,
    chunk_bytes: usize,
    chunk: Vec<u8>,
    written_bytes: u64,
}

impl<W: Write> Writer<W> {
    pub fn new(
        mut out: W,
        path: &Path,
        seal: &Seal,
        aead: Aead,
        content: Content,
        chunk_bytes: usize,
        random: &Random,
    ) -> Result<Self, StreamError> {
        let slots = seal.slots(&random.id, &random.data_key)?;
        let head = Head { id: random.id, aead, content, chunk_bytes, slots };
        let mut bytes = head.encode().ok_or_else(|| StreamError::Setup {
            what: "too many recipients".into(),
            why: format!("the head of an archive has at most {HEAD_BYTES_MAX} bytes"),
            next: "name fewer of them, or a key file that they share".into(),
        })?;
        let derived = Derived::of(&random.id, &random.data_key)?;
        let mac = derived.mac(&bytes)?;
        bytes.extend_from_slice(&mac);
        out.write_all(&bytes).map_err(|error| unwritable(path, &error))?;
        Ok(Self {
            out,
            path: path.to_owned(),
            chunks: derived.sealer(aead)?,
            chunk_bytes,
            chunk: Vec::with_capacity(chunk_bytes + TAG_BYTES),
            written_bytes: bytes.len() as u64,
        })
    }

    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), StreamError> {
        while !bytes.is_empty() {
            if self.chunk.len() == self.chunk_bytes {
                self.seal(false)?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(self.chunk_bytes - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    fn seal(&mut self, is_last: bool) -> Result<(), StreamError> {
        self.chunks.seal(&mut self.chunk, is_last).map_err(|error| StreamError::Setup {
            what: "the archive becomes too large".into(),
            why: error.to_string(),
            next: "make several of them".into(),
        })?;
        self.out.write_all(&self.chunk).map_err(|error| unwritable(&self.path, &error))?;
        self.written_bytes += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// The last chunk, without which it is no archive; returns how long it is.
    pub fn finish(mut self) -> Result<(W, u64), StreamError> {
        self.seal(true)?;
        self.out.flush().map_err(|error| unwritable(&self.path, &error))?;
        Ok((self.out, self.written_bytes))
    }
}

/// Plain bytes of an archive, each behind the tag of its chunk.
pub struct Reader<R> {
    read: R,
    path: PathBuf,
    pub head: Head,
    chunks: Chunks,
    /// The next chunk, which is read to know whether there is one.
    ahead: Vec<u8>,
    sealed: Vec<u8>,
    plain: Vec<u8>,
    taken: usize,
    /// Of the next chunk.
    at_bytes: u64,
    is_over: bool,
}

fn fill(read: &mut impl Read, into: &mut Vec<u8>, wanted: usize, path: &Path) -> Result<(), StreamError> {
    into.clear();
    let mut part = read.take(wanted as u64);
    part.read_to_end(into).map(drop).map_err(|error| StreamError::Source {
        what: path.display().to_string(),
        why: error.to_string(),
        next: "read it from where it can be read".into(),
    })
}

impl<R: Read> Reader<R> {
    pub fn new(mut read: R, path: &Path, keys: &Keys) -> Result<Self, StreamError> {
        let mut bytes = Vec::new();
        let (head, length) = loop {
            match head::parse(&bytes).map_err(|error| damaged(path, 0, error.to_string()))? {
                Parsed::Head(head, length) => break (head, length),
                Parsed::Needs(wanted) => {
                    let mut more = Vec::new();
                    fill(&mut read, &mut more, wanted.saturating_sub(bytes.len()), path)?;
                    bytes.extend_from_slice(&more);
                    if bytes.len() < wanted {
                        // What is wrong with its beginning is said before that it is short.
                        head::parse(&bytes).map_err(|error| damaged(path, 0, error.to_string()))?;
                        return Err(damaged(path, bytes.len() as u64, "it ends inside its head"));
                    }
                }
            }
        };
        let data_key = keys.data_key(&head)?.ok_or_else(|| StreamError::Setup {
            what: format!("{} does not open with this key", path.display()),
            why: "it was sealed to another one, or its head was changed".into(),
            next: "name the key file, or the identity of one of its recipients".into(),
        })?;
        let derived = Derived::of(&head.id, &data_key)?;
        let (front, mac) = bytes.split_at(length - MAC_BYTES);
        if !openssl::memcmp::eq(&derived.mac(front)?, mac) {
            return Err(damaged(path, 0, "its head was changed: its MAC is another one"));
        }
        let chunks = derived.opener(head.aead)?;
        let sealed_bytes = head.chunk_bytes + TAG_BYTES;
        let mut ahead = Vec::with_capacity(sealed_bytes);
        fill(&mut read, &mut ahead, sealed_bytes, path)?;
        Ok(Self {
            read,
            path: path.to_owned(),
            head,
            chunks,
            ahead,
            sealed: Vec::with_capacity(sealed_bytes),
            plain: Vec::with_capacity(sealed_bytes),
            taken: 0,
            at_bytes: length as u64,
            is_over: false,
        })
    }

    /// Where the next chunk begins.
    pub fn at_bytes(&self) -> u64 {
        self.at_bytes
    }

    pub fn damaged(&self, why: impl Into<String>) -> StreamError {
        damaged(&self.path, self.at_bytes, why)
    }

    /// The next chunk. `false`: the last one was before.
    fn next_chunk(&mut self) -> Result<bool, StreamError> {
        if self.is_over {
            return Ok(false);
        }
        std::mem::swap(&mut self.ahead, &mut self.sealed);
        let sealed_bytes = self.head.chunk_bytes + TAG_BYTES;
        if self.sealed.len() == sealed_bytes {
            fill(&mut self.read, &mut self.ahead, sealed_bytes, &self.path)?;
        } else {
            self.ahead.clear();
        }
        let is_last = self.ahead.is_empty();
        self.taken = 0;
        match self.chunks.open(&self.sealed, is_last, &mut self.plain) {
            Ok(()) => {}
            Err(ChunkError::Tag) => {
                let is_cut = is_last && self.chunks.open(&self.sealed, false, &mut self.plain).is_ok();
                self.plain.clear();
                return Err(self.damaged(if is_cut {
                    "it ends here, and this is not its end: what follows is missing"
                } else {
                    "a chunk was changed, moved or cut: its tag is another one"
                }));
            }
            Err(error) => return Err(self.damaged(error.to_string())),
        }
        self.at_bytes += self.sealed.len() as u64;
        self.is_over = is_last;
        Ok(true)
    }

    /// Fills `into`; `false`: nothing is left, at all.
    pub fn read_exact(&mut self, into: &mut [u8]) -> Result<bool, StreamError> {
        let mut filled = 0;
        while filled < into.len() {
            if self.taken == self.plain.len() {
                if !self.next_chunk()? {
                    return if filled == 0 {
                        Ok(false)
                    } else {
                        Err(self.damaged("it ends inside a record"))
                    };
                }
                continue;
            }
            let from = self.plain.get(self.taken..).unwrap_or_default();
            let to = into.get_mut(filled..).unwrap_or_default();
            let count = from.len().min(to.len());
            let (now, _) = from.split_at(count);
            to.get_mut(..count).unwrap_or_default().copy_from_slice(now);
            filled += count;
            self.taken += count;
        }
        Ok(true)
    }
}

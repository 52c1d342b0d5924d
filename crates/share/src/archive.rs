//! Archives as files: written chunk by chunk, read chunk by chunk, each believed when its tag is right.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

use crate::ShareError;
use crate::chunks::{CHUNK_BYTES, ChunkOpener, ChunkSealer, SEALED_BYTES};
use crate::crypto::DataKey;
use crate::files::{self, Whole};
use crate::header::{Header, PREAMBLE_BYTES};
use crate::keys::Identity;

/// Takes plain bytes, and writes an archive.
pub struct ArchiveWriter<W: Write> {
    to: W,
    sealer: ChunkSealer,
    waiting: Zeroizing<Vec<u8>>,
    plain_bytes: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub fn new(mut to: W, header: &Header, key: &DataKey) -> Result<Self, ShareError> {
        to.write_all(header.bytes()).map_err(lost)?;
        let sealer = ChunkSealer::new(key, &header.core.archive.0, header.core_hash())?;
        // Never grown, which would leave copies behind.
        Ok(Self { to, sealer, waiting: Zeroizing::new(Vec::with_capacity(SEALED_BYTES)), plain_bytes: 0 })
    }

    pub fn put(&mut self, mut bytes: &[u8]) -> Result<(), ShareError> {
        self.plain_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            // Only now is it known that the chunk before is not the last one.
            if self.waiting.len() == CHUNK_BYTES {
                self.sealer.seal(&mut self.waiting, false)?;
                self.to.write_all(&self.waiting).map_err(lost)?;
                self.waiting.clear();
            }
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// How many plain bytes are in it.
    pub fn finish(mut self) -> Result<(W, u64), ShareError> {
        self.sealer.seal(&mut self.waiting, true)?;
        self.to.write_all(&self.waiting).map_err(lost)?;
        self.to.flush().map_err(lost)?;
        Ok((self.to, self.plain_bytes))
    }
}

fn lost(error: io::Error) -> ShareError {
    ShareError::usage("cannot write the archive", error, "make room, and begin again: nothing was kept")
}

pub fn read_header(from: &mut impl Read, name: &str) -> Result<Header, ShareError> {
    let cut = |error: io::Error| {
        ShareError::usage(format!("cannot read {name}"), error, "check the path; have the file sent again")
    };
    let mut preamble = [0; PREAMBLE_BYTES];
    from.read_exact(&mut preamble).map_err(cut)?;
    let mut bytes = preamble.to_vec();
    bytes.resize(PREAMBLE_BYTES + Header::rest_bytes(&preamble)?, 0);
    from.read_exact(bytes.get_mut(PREAMBLE_BYTES..).unwrap_or_default()).map_err(cut)?;
    Header::parse(&bytes)
}

/// What follows the header, as plain bytes; `to` sees no byte before its chunk's tag, and the end only if it is the right one.
pub fn open_chunks(
    from: &mut impl Read,
    header: &Header,
    key: &DataKey,
    to: &mut impl Write,
) -> Result<u64, ShareError> {
    let refused = || {
        ShareError::refused(
            "this archive does not open to its end",
            "a piece of it was altered, moved, left out or added",
            "have the archive sent again; nothing was written",
        )
    };
    let broken = |error| {
        ShareError::usage(
            "cannot read or write the rows",
            error,
            "make room, and open it again: nothing was kept",
        )
    };
    let mut opener = ChunkOpener::new(key, &header.core.archive.0, header.core_hash())?;
    // Both are used in turn, and never grown: that would leave copies of rows behind.
    let [mut now, mut after] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(SEALED_BYTES)));
    read_up_to(from, SEALED_BYTES, &mut now).map_err(broken)?;
    let mut plain_bytes = 0;
    loop {
        after.clear();
        if now.len() == SEALED_BYTES {
            read_up_to(from, SEALED_BYTES, &mut after).map_err(broken)?;
        }
        let is_last = after.is_empty();
        if !opener.open(&mut now, is_last) {
            return Err(refused());
        }
        to.write_all(&now).map_err(broken)?;
        plain_bytes += now.len() as u64;
        if is_last {
            return Ok(plain_bytes);
        }
        std::mem::swap(&mut now, &mut after);
    }
}

fn read_up_to(from: &mut impl Read, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
    while into.len() < count {
        let at = into.len();
        into.resize(count, 0);
        let read = from.read(into.get_mut(at..).unwrap_or_default());
        into.truncate(at + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens the file and reads its header.
pub fn begin(path: &Path) -> Result<(File, Header), ShareError> {
    let mut file = File::open(path).map_err(files::cannot("read", path))?;
    let header = read_header(&mut file, &path.display().to_string())?;
    Ok((file, header))
}

/// Looks at an archive as its owner: its header, and every chunk. Gives the count of plain bytes.
///
/// # Errors
/// It is another owner's, or a piece of it is not as it was written.
pub fn verify(path: &Path, owner: &Identity) -> Result<(Header, u64), ShareError> {
    let (mut file, header) = begin(path)?;
    header.is_by(&owner.public)?;
    let key = header.key_of_owner(owner)?;
    header.is_of(&key)?;
    let plain_bytes = open_chunks(&mut file, &header, &key, &mut io::sink())?;
    Ok((header, plain_bytes))
}

/// The archive with another header before the same chunks: a new file takes the place of the old one when it is whole.
pub(crate) fn write_again(mut whole: Whole, mut chunks: File, header: &Header) -> Result<(), ShareError> {
    whole.write_all(header.bytes()).map_err(lost)?;
    io::copy(&mut chunks, whole.file().map_err(lost)?).map_err(lost)?;
    whole.replace()
}

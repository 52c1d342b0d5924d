//! An archive file: what a copy sends ([`crate::frame`]), sealed to recipients of age or to a key file, in chunks of which none can be
//! changed, left out, doubled, moved or added. The bytes are described in docs/src/reference/archive-format.md, from which another
//! reader was written (tests/all/archive_reader.py).
//!
//! Nothing is believed before what proves it: the head before a chunk, a chunk's tag before a byte of it.

pub mod chunks;
mod create;
mod extract;
pub mod head;
mod keys;
mod sealed;

pub(crate) use create::Sealing;
pub use create::{CreateOptions, Packing, create, create_of_bytes};
pub use extract::{Contents, Place, check, extract};
pub use keys::{KeyFile, Keys, Seal};

use std::path::Path;

use crate::StreamError;
use crate::progress::Progress;

/// Of a test: an archive with chunks as small as it wants them.
#[doc(hidden)]
pub fn in_memory(
    from: &Path,
    seal: Seal,
    aead: head::Aead,
    chunk_bytes: usize,
) -> Result<Vec<u8>, StreamError> {
    let options = CreateOptions { seal, aead: Some(aead), packing: Packing::None };
    let random = sealed::Random::new()?;
    let path = Path::new("in memory");
    create::tree_into(from, Vec::new(), path, &options, chunk_bytes, &random, &Progress::default())
        .map(|(_, archive, _)| archive)
}

/// Of a test: an archive of bytes in which nothing is random.
#[doc(hidden)]
pub fn vector(seal: Seal, aead: head::Aead, mut plain: &[u8]) -> Result<Vec<u8>, StreamError> {
    let options = CreateOptions { seal, aead: Some(aead), packing: Packing::None };
    let random = sealed::Random { id: [0x1d; head::ID_BYTES], data_key: zeroize::Zeroizing::new([0xda; 32]) };
    let (path, progress) = (Path::new("in memory"), Progress::default());
    create::bytes_into(&mut plain, &mut || Ok(()), Vec::new(), path, &options, 64, &random, &progress)
        .map(|(_, archive, _)| archive)
}

/// Of a machine's own fault.
fn no_crypto(error: &openssl::error::ErrorStack) -> StreamError {
    StreamError::Setup {
        what: "OpenSSL cannot encrypt".into(),
        why: error.to_string(),
        next: "report it".into(),
    }
}

/// What an archive is not.
fn damaged(path: &Path, at_bytes: u64, why: impl Into<String>) -> StreamError {
    StreamError::Content {
        what: path.display().to_string(),
        at_bytes,
        why: why.into(),
        next:
            "nothing behind this byte counts: take another copy of the archive, and remove what was written"
                .into(),
    }
}

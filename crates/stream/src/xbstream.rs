//! Backup streams of mariabackup and XtraBackup (xbstream): placed into a directory in one pass, listed, made.
//!
//! One thread reads chunks ([`source`]) and hands each to the worker of its file, so that what belongs to a file
//! stays in order; a worker takes the layers off ([`layers`]) and writes ([`place`]). What is under way is bounded in
//! bytes. Start with [`extract`].

mod buffers;
mod create;
mod crypt;
mod extract;
mod front;
mod layers;
mod place;
mod source;
mod worker;

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretSlice};
use zeroize::Zeroizing;

pub use create::create;
pub use crypt::{decrypt, encrypt, unwrap};
pub use extract::{ExtractOptions, Extracted, extract};
pub(crate) use place::Place;
pub use source::{Listed, list};

use crate::StreamError;

/// What a stream was encrypted with: nothing in it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Aes128,
    Aes192,
    Aes256,
}

impl Algorithm {
    pub fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    /// As XtraBackup's option has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "AES128",
            Self::Aes192 => "AES192",
            Self::Aes256 => "AES256",
        }
    }

    fn cipher(self) -> openssl::symm::Cipher {
        match self {
            Self::Aes128 => openssl::symm::Cipher::aes_128_ctr(),
            Self::Aes192 => openssl::symm::Cipher::aes_192_ctr(),
            Self::Aes256 => openssl::symm::Cipher::aes_256_ctr(),
        }
    }
}

/// An algorithm and a key for it.
#[derive(Debug, Clone)]
pub struct Decryption {
    algorithm: Algorithm,
    key: SecretSlice<u8>,
}

/// No key is longer; a file that is was named by mistake.
const KEY_FILE_BYTES_MAX: usize = 4096;

impl Decryption {
    /// The bytes of a file, all of them, as XtraBackup takes them.
    ///
    /// # Errors
    /// Others may read it, or what is in it is no key for that algorithm.
    pub fn from_file(algorithm: Algorithm, path: &Path) -> Result<Self, StreamError> {
        let refuse = |why: String, next: &str| StreamError::Setup {
            what: format!("cannot use the key file {}", path.display()),
            why,
            next: next.into(),
        };
        let file = File::open(path).map_err(|error| refuse(error.to_string(), "check the path"))?;
        let about = file.metadata().map_err(|error| refuse(error.to_string(), "check the path"))?;
        let mode = about.permissions().mode() & 0o777;
        if about.is_file() && mode & 0o077 != 0 {
            let next = "chmod 600 it, and use another key if others were on this machine";
            return Err(refuse(format!("others may read it (mode {mode:o})"), next));
        }
        // With room for all that is read, so that no copy of it is left behind.
        let mut key = Zeroizing::new(Vec::with_capacity(KEY_FILE_BYTES_MAX + 1));
        file.take(KEY_FILE_BYTES_MAX as u64)
            .read_to_end(&mut key)
            .map_err(|error| refuse(error.to_string(), "check the path"))?;
        Self::new(algorithm, SecretSlice::from(key.to_vec()))
    }

    /// # Errors
    /// The key is not as long as the algorithm needs it.
    pub fn new(algorithm: Algorithm, key: SecretSlice<u8>) -> Result<Self, StreamError> {
        let (has, needs) = (key.expose_secret().len(), algorithm.key_bytes());
        if has == needs {
            return Ok(Self { algorithm, key });
        }
        let is_line = has == needs + 1 && key.expose_secret().last() == Some(&b'\n');
        Err(StreamError::Setup {
            what: format!("the key does not fit {}", algorithm.name()),
            why: format!("it has {has} bytes, and {} needs {needs}", algorithm.name()),
            next: if is_line {
                "the last byte is a line feed: write the key without it (printf %s, not echo)".into()
            } else {
                "name the key file and the algorithm that the backup was made with".into()
            },
        })
    }
}

/// Of a path in a stream, as it may be printed: who wrote the stream chose it.
fn printable(path: &[u8]) -> String {
    String::from_utf8_lossy(path).escape_debug().to_string()
}

/// What one file of a stream could not be.
fn at(path: &[u8], at_bytes: u64, why: impl std::fmt::Display, next: &str) -> StreamError {
    let what = if path.is_empty() { "the stream".to_owned() } else { printable(path) };
    StreamError::Content { what, at_bytes, why: why.to_string(), next: next.into() }
}

const DAMAGED: &str =
    "nothing of this stream counts: remove what was written, and take another copy of the backup";

/// A path on the machine that this is.
fn local(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(path))
}

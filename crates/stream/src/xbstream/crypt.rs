//! Layers by themselves: what xbcrypt does to a stream, and what XtraBackup's --decrypt and --decompress do to files.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use formats::xbcrypt::{HASH_BYTES, IV_BYTES, write_head};
use nix::fcntl::OFlag;
use openssl::symm::{Crypter, Mode};
use secrecy::ExposeSecret;

use super::layers::{self, Layer};
use super::{DAMAGED, Decryption, at};
use crate::StreamError;
use crate::landing::MARK;
use crate::progress::Progress;

/// As much as the tool encrypts at once.
const CHUNK_BYTES: usize = 64 << 10;
const READ_BYTES: usize = 1 << 20;

fn unwritable(error: &io::Error) -> StreamError {
    StreamError::Target {
        what: "what comes out".into(),
        why: error.to_string(),
        next: "make room or see who reads it; nothing that was written counts".into(),
    }
}

fn unreadable(at_bytes: u64, error: &io::Error) -> StreamError {
    at(b"", at_bytes, format!("it cannot be read: {error}"), "read it from where it can be read")
}

/// Encrypts `read` into chunks of version 3; returns how many bytes they are.
///
/// # Errors
/// Nothing that was written counts.
pub fn encrypt(
    mut read: impl Read,
    out: &mut dyn Write,
    encryption: &Decryption,
    progress: &Progress,
) -> Result<u64, StreamError> {
    let (mut plain, mut head, mut count) = (Vec::with_capacity(CHUNK_BYTES + HASH_BYTES), Vec::new(), 0);
    let mut encrypted = vec![0; CHUNK_BYTES + HASH_BYTES + IV_BYTES];
    loop {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        plain.clear();
        (&mut read)
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut plain)
            .map_err(|error| unreadable(progress.done_bytes(), &error))?;
        if plain.is_empty() {
            break;
        }
        progress.add(plain.len() as u64);
        let hash = openssl::sha::sha256(&plain);
        plain.extend_from_slice(&hash);
        let mut iv = [0; IV_BYTES];
        let key = encryption.key.expose_secret();
        let length = openssl::rand::rand_bytes(&mut iv)
            .and_then(|()| Crypter::new(encryption.algorithm.cipher(), Mode::Encrypt, key, Some(&iv)))
            .and_then(|mut crypter| crypter.update(&plain, &mut encrypted))
            .map_err(|error| at(b"", count, format!("OpenSSL cannot encrypt: {error}"), "report it"))?;
        let body = encrypted.get(..length).unwrap_or_default();
        head.clear();
        write_head(&mut head, &iv, body);
        out.write_all(&head).and_then(|()| out.write_all(body)).map_err(|error| unwritable(&error))?;
        count += (head.len() + length) as u64;
    }
    out.flush().map_err(|error| unwritable(&error))?;
    Ok(count)
}

/// Decrypts chunks of version 1, 2 or 3; returns how many bytes they were.
///
/// # Errors
/// Nothing that was written counts.
pub fn decrypt(
    read: impl Read,
    out: &mut dyn Write,
    decryption: &Decryption,
    progress: &Progress,
) -> Result<u64, StreamError> {
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(layers::xbcrypt::Xbcrypt::new(decryption.clone()))];
    through(read, b"", &mut layers, true, out, progress)
}

fn through(
    mut read: impl Read,
    path: &[u8],
    layers: &mut [Box<dyn Layer>],
    may_be_empty: bool,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<u64, StreamError> {
    let (mut room, mut at_bytes, mut count) = (vec![0; READ_BYTES], 0, 0);
    loop {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        let length = read.read(&mut room).map_err(|error| unreadable(at_bytes, &error))?;
        if length == 0 {
            break;
        }
        let mut failed = None;
        let pushed = layers::push(layers, room.get(..length).unwrap_or_default(), &mut |bytes: &[u8]| {
            count += bytes.len() as u64;
            out.write_all(bytes).map_err(|error| {
                let why = error.to_string();
                failed = Some(error);
                why
            })
        });
        if let Some(error) = failed {
            return Err(unwritable(&error));
        }
        pushed.map_err(|why| at(path, at_bytes, why, DAMAGED))?;
        at_bytes += length as u64;
        progress.add(length as u64);
    }
    let missing = layers.iter().find_map(|layer| layer.finish().err());
    if let Some(why) = missing {
        return Err(at(path, at_bytes, why, DAMAGED));
    }
    if at_bytes == 0 && !may_be_empty {
        return Err(at(path, 0, "it is empty", "check what was to write it"));
    }
    out.flush().map_err(|error| unwritable(&error))?;
    Ok(count)
}

/// Removes a file that is not whole.
struct Unfinished<'p>(Option<&'p Path>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Takes the layers off a file that its name tells, into a new file beside it: `t.ibd.zst.xbcrypt` becomes `t.ibd`.
///
/// # Errors
/// There is no such file then, and the first one is as it was.
pub fn unwrap(
    file: &Path,
    decryption: Option<&Decryption>,
    progress: &Progress,
) -> Result<(PathBuf, u64), StreamError> {
    let path = file.as_os_str().as_bytes();
    let refuse = |what: &Path, why: String, next: &str| StreamError::Setup {
        what: format!("cannot unwrap {}", what.display()),
        why,
        next: next.into(),
    };
    let mut chain = layers::chain(path, decryption, true)
        .map_err(|why| refuse(file, why, "name the algorithm and the key file"))?;
    if chain.layers.is_empty() {
        let why = "its name ends neither in .xbcrypt nor in .qp, .zst or .lz4".into();
        return Err(refuse(file, why, "name a file as XtraBackup or mariabackup has called it"));
    }
    let read = File::open(file).map_err(|error| refuse(file, error.to_string(), "check the path"))?;
    let to = super::local(&chain.path);
    let there = |error: String| refuse(&to, error, "remove or rename what is there");
    match std::fs::symlink_metadata(&to) {
        Ok(_) => return Err(there("File exists".into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(there(error.to_string())),
    }
    // A name that nobody takes for a whole file; what a killed run has left of it is written over.
    let mut partial = to.clone().into_os_string();
    partial.push(MARK);
    let partial = PathBuf::from(partial);
    let mut out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o640)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(&partial)
        .map_err(|error| refuse(&partial, error.to_string(), "remove or rename what is there"))?;
    let mut unfinished = Unfinished(Some(&partial));
    // xbcrypt makes nothing of nothing; no compression does.
    let may_be_empty = chain.layers.len() == 1 && path.ends_with(b".xbcrypt");
    let count = through(read, path, &mut chain.layers, may_be_empty, &mut out, progress)?;
    out.sync_all().map_err(|error| unwritable(&error))?;
    // Unlike a rename it takes nobody's place.
    match std::fs::hard_link(&partial, &to) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(there(error.to_string()));
        }
        // A file system without links.
        Err(_) => {
            std::fs::rename(&partial, &to).map_err(|error| unwritable(&error))?;
            unfinished.0 = None;
        }
    }
    drop(unfinished);
    let directory = to.parent().filter(|at| !at.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory).and_then(|at| at.sync_all()).map_err(|error| unwritable(&error))?;
    Ok((to, count))
}

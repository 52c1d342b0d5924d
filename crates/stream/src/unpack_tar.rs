//! A tar that comes, into a directory. Paths and links are held to what a copy of a directory allows.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::StreamError;
use crate::entry::{Entry, Kind};
use crate::landing::{dress, lay_mark, prepare};
use crate::progress::Progress;
use crate::xbstream::Place;

const ENTRIES_MAX: usize = 10_000_000;
const PIECE_BYTES: usize = 1 << 20;
const BLOCK_BYTES: usize = 512;

fn refused(path: &Path, why: impl Into<String>) -> StreamError {
    StreamError::Setup {
        what: format!("{} of the tar cannot be extracted", path.display()),
        why: why.into(),
        next: "give the tar to a program that takes it: receive --into-command 'tar x -C DIR'".into(),
    }
}

/// # Errors
/// What was written stays, with [`crate::landing::MARK`] in it.
pub fn extract(read: impl Read, root: &Path, progress: &Progress) -> Result<(), StreamError> {
    prepare(root, false)?;
    let mark = lay_mark(root, false)?;
    let broken = |error: io::Error| StreamError::Target {
        what: root.display().to_string(),
        why: format!("the tar cannot be read: {error}"),
        next: "check what writes it, and send it again into a new directory".into(),
    };
    let place = Place::new(root).map_err(broken)?;
    let mut archive = tar::Archive::new(read);
    let (mut entries, mut room) = (Vec::new(), vec![0; PIECE_BYTES]);
    for one in archive.entries().map_err(broken)? {
        if progress.is_stopped() {
            return Err(StreamError::Stopped);
        }
        let mut one = one.map_err(broken)?;
        let Some(entry) = entry(&mut one).map_err(broken)? else { continue };
        let full = root.join(&entry.path);
        entry.check().map_err(|why| refused(&entry.path, why))?;
        let cannot = |error: io::Error| crate::landing::target(&full, error);
        match entry.kind {
            Kind::Directory => place.directory(entry.path.as_os_str().as_bytes()).map_err(cannot)?,
            // Behind everything else: nothing is written through one.
            Kind::Link => {}
            Kind::File => {
                let mut file = place.create(entry.path.as_os_str().as_bytes()).map_err(cannot)?;
                loop {
                    let count = one.read(&mut room).map_err(broken)?;
                    if count == 0 {
                        break;
                    }
                    io::Write::write_all(&mut file, room.get(..count).unwrap_or_default()).map_err(cannot)?;
                }
            }
        }
        entries.push(entry);
        if entries.len() > ENTRIES_MAX {
            return Err(refused(root, format!("it has more than {ENTRIES_MAX} files")));
        }
    }
    ends(archive.into_inner(), &mut room).map_err(broken)?;
    for entry in entries.iter().filter(|entry| entry.kind == Kind::Link) {
        let full = root.join(&entry.path);
        std::os::unix::fs::symlink(&entry.target, &full)
            .map_err(|error| crate::landing::target(&full, error))?;
    }
    let is_root = geteuid().is_root();
    for entry in entries.iter().rev().filter(|entry| !entry.is_root()) {
        dress(root, entry, is_root)?;
    }
    mark.sync()?;
    mark.take(false)?;
    for entry in entries.iter().filter(|entry| entry.is_root()) {
        dress(root, entry, is_root)?;
    }
    mark.sync()
}

/// Two blocks of zeros, and zeros behind them to the full record: a tar without them was cut, and what stands behind them is another one.
/// Source: POSIX, pax, "ustar Interchange Format". The crate has read the first of the two, if there was one.
fn ends(mut read: impl Read, room: &mut [u8]) -> io::Result<()> {
    let mut zeros = 0;
    loop {
        let count = read.read(room)?;
        if count == 0 {
            break;
        }
        if room.get(..count).unwrap_or_default().iter().any(|byte| *byte != 0) {
            return Err(io::Error::other("something stands behind its end, which would not be extracted"));
        }
        zeros += count;
    }
    if zeros < BLOCK_BYTES {
        return Err(io::Error::other("it was cut: the two blocks of zeros at its end are missing"));
    }
    Ok(())
}

/// `None`: it is nothing that is written.
fn entry<R: Read>(one: &mut tar::Entry<'_, R>) -> io::Result<Option<Entry>> {
    let time = extensions(one)?;
    let header = one.header();
    let kind = match header.entry_type() {
        tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => Kind::File,
        tar::EntryType::Directory => Kind::Directory,
        tar::EntryType::Symlink => Kind::Link,
        tar::EntryType::XGlobalHeader => return Ok(None),
        other => {
            return Err(io::Error::other(format!(
                "{} is of type {other:?}, which is neither a file nor a directory nor a symbolic link",
                one.path()?.display()
            )));
        }
    };
    let target = match kind {
        Kind::Link => one.link_name()?.map(std::borrow::Cow::into_owned).unwrap_or_default(),
        _ => PathBuf::new(),
    };
    let id = |number: io::Result<u64>| number.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    Ok(Some(Entry {
        kind,
        is_dense: false,
        mode: header.mode()? & 0o1777,
        uid: id(header.uid())?,
        gid: id(header.gid())?,
        mtime_s: time.map_or(header.mtime()?.cast_signed(), |(seconds, _)| seconds),
        mtime_ns: time.map_or(0, |(_, nanoseconds)| nanoseconds),
        size_bytes: if kind == Kind::File { one.size() } else { 0 },
        path: below(&one.path()?),
        target,
    }))
}

/// The time of a pax header, seconds and nanoseconds. Source: POSIX, pax, "pax Extended Header"; GNU tar, "Storing Sparse Files".
fn extensions<R: Read>(one: &mut tar::Entry<'_, R>) -> io::Result<Option<(i64, u32)>> {
    let (mut time, mut is_sparse) = (None, false);
    let Some(all) = one.pax_extensions()? else { return Ok(None) };
    for extension in all {
        let extension = extension?;
        is_sparse |= extension.key_bytes().starts_with(b"GNU.sparse.");
        if extension.key_bytes() == b"mtime" {
            time = extension.value().ok().and_then(seconds);
        }
    }
    if is_sparse {
        return Err(io::Error::other(format!(
            "{} is sparse in a way that is not read here; tar --format=gnu -S writes one that is",
            one.path()?.display()
        )));
    }
    Ok(time)
}

/// `1700000000.25`, `-0.5`.
fn seconds(text: &str) -> Option<(i64, u32)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let mut nanoseconds: u32 = 0;
    for digit in part.chars().chain("000000000".chars()).take(9) {
        nanoseconds = nanoseconds * 10 + digit.to_digit(10)?;
    }
    let seconds: i64 = whole.parse().ok()?;
    if !whole.starts_with('-') || nanoseconds == 0 {
        return Some((seconds, nanoseconds));
    }
    Some((seconds.checked_sub(1)?, 1_000_000_000 - nanoseconds))
}

/// As tar is usually told to: `./db/t.ibd`, `db/`. Anything else stays as it is, and is refused if it leads out.
fn below(path: &Path) -> PathBuf {
    let mut bytes = path.as_os_str().as_bytes();
    while let Some(rest) = bytes.strip_prefix(b"./") {
        bytes = rest;
    }
    if bytes == b"." {
        bytes = b"";
    }
    let bytes = bytes.strip_suffix(b"/").unwrap_or(bytes);
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

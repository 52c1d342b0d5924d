//! Files with the right mode, written whole or not at all.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::ShareError;

pub const PRIVATE: u32 = 0o600;
pub const PUBLIC: u32 = 0o644;
const DIRECTORY: u32 = 0o700;
/// Of group and others.
const OTHERS: u32 = 0o077;

pub fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> ShareError {
    let path = path.to_owned();
    move |error| {
        let next = match error.kind() {
            io::ErrorKind::AlreadyExists => "give another name, or move away what is there",
            io::ErrorKind::NotFound => "check the path",
            _ => "check the path, its owner and its mode",
        };
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists => "there is a file of this name already".to_owned(),
            _ => error.to_string(),
        };
        ShareError::usage(format!("cannot {doing} {}", path.display()), why, next)
    }
}

pub fn make_private_dir(dir: &Path) -> Result<(), ShareError> {
    match DirBuilder::new().mode(DIRECTORY).create(dir) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let held = std::fs::metadata(dir).map_err(cannot("look at", dir))?;
            if held.is_dir() && held.mode() & OTHERS == 0 {
                return Ok(());
            }
            Err(ShareError::usage(
                format!("{} is no place for keys", dir.display()),
                format!("it has mode {:04o}", held.permissions().mode() & 0o7777),
                format!("give a directory that is not there yet, or: chmod 700 {}", dir.display()),
            ))
        }
        Err(error) => Err(cannot("make", dir)(error)),
    }
}

/// A small file that is not there yet: whole, or not there at all.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ShareError> {
    let mut whole = Whole::new(path)?;
    let written = whole
        .write_all(bytes)
        .and_then(|()| whole.file()?.set_permissions(std::fs::Permissions::from_mode(mode)));
    written.map_err(cannot("write", path))?;
    whole.finish()
}

pub fn read_small(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ShareError> {
    let file = File::open(path).map_err(cannot("read", path))?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(cannot("read", path))?;
    if bytes.len() as u64 > bytes_max {
        return Err(ShareError::usage(
            format!("cannot read {}", path.display()),
            format!("it is longer than {bytes_max} bytes"),
            "check the path",
        ));
    }
    Ok(bytes)
}

/// `None`: there is none. What cannot be looked at is an error.
pub fn read_small_if_there(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, ShareError> {
    match path.symlink_metadata() {
        Ok(_) => read_small(path, bytes_max).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("look at", path)(error)),
    }
}

/// A small file of our own, which is the old one or the new one whenever we are killed.
pub fn replace_small(path: &Path, bytes: &[u8]) -> Result<(), ShareError> {
    let mut whole = Whole::replacing(path)?;
    whole.write_all(bytes).map_err(cannot("write", path))?;
    whole.replace()
}

/// Secrets that others may read are none.
pub fn is_private(path: &Path) -> Result<(), ShareError> {
    let held = std::fs::metadata(path).map_err(cannot("read", path))?;
    if held.mode() & OTHERS == 0 {
        return Ok(());
    }
    Err(ShareError::usage(
        format!("{} is not secret", path.display()),
        format!("others may read it: mode {:04o}", held.mode() & 0o7777),
        format!("chmod 600 {}; if others were on this machine, make new keys", path.display()),
    ))
}

/// A file that has its name only when it is whole; what is dropped before leaves nothing.
pub struct Whole {
    file: Option<File>,
    /// The name it has until then, or takes on its way to the other one.
    part: PathBuf,
    /// It can be without any name, so that not even a kill leaves a part of it.
    is_nameless: bool,
    path: PathBuf,
    /// What it replaces, held so that nobody else replaces it meanwhile.
    replaced: Option<File>,
}

impl Whole {
    /// A new file: what has this name already stays.
    pub fn new(path: &Path) -> Result<Self, ShareError> {
        if path.symlink_metadata().is_ok() {
            return Err(cannot("write", path)(io::ErrorKind::AlreadyExists.into()));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        Self::beside(path, path.with_file_name(name))
    }

    /// In the place of what is there, which is given up when the new one is whole.
    pub fn instead_of(path: &Path) -> Result<Self, ShareError> {
        let replaced = File::open(path).map_err(cannot("read", path))?;
        let busy = |why: &str| {
            ShareError::usage(
                format!("cannot write {}", path.display()),
                why,
                "wait for the other one, and begin again",
            )
        };
        if rustix::fs::flock(&replaced, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(busy("another sealion is writing it anew"));
        }
        let identity = |held: std::fs::Metadata| (held.dev(), held.ino());
        let is_it = replaced.metadata().ok().map(identity) == std::fs::metadata(path).ok().map(identity);
        if !is_it {
            return Err(busy("another sealion has just written it anew"));
        }
        let mut whole = Self::replacing(path)?;
        whole.replaced = Some(replaced);
        Ok(whole)
    }

    /// Nobody else writes it. What a kill has left beside it goes, and nothing else has such a name.
    fn replacing(path: &Path) -> Result<Self, ShareError> {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".sealion-new");
        let part = path.with_file_name(name);
        let _ = std::fs::remove_file(&part);
        Self::beside(path, part)
    }

    fn beside(path: &Path, part: PathBuf) -> Result<Self, ShareError> {
        let path = path.to_owned();
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        // Source: open(2), O_TMPFILE: not every file system has it.
        if let Ok(file) = rustix::fs::open(dir_of(&path), flags, Mode::from_raw_mode(PRIVATE)) {
            return Ok(Self { file: Some(file.into()), part, is_nameless: true, path, replaced: None });
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&part);
        let file = file.map_err(cannot("make", &part))?;
        Ok(Self { file: Some(file), part, is_nameless: false, path, replaced: None })
    }

    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// On the disk, with its name. What has this name meanwhile stays (of a file system without such a rename: what had it before).
    pub fn finish(self) -> Result<(), ShareError> {
        self.named(|whole| {
            if whole.is_nameless {
                return whole.link_to(&whole.path);
            }
            let moved = rustix::fs::renameat_with(CWD, &whole.part, CWD, &whole.path, RenameFlags::NOREPLACE);
            match moved {
                Ok(()) => Ok(()),
                Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
                // Some file systems have no such rename, and some no links: exFAT, and what FUSE gives.
                Err(_) if whole.path.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => std::fs::rename(&whole.part, &whole.path),
            }
        })
    }

    /// On the disk, in the place of what has its name.
    pub fn replace(self) -> Result<(), ShareError> {
        self.named(|whole| {
            if let (Some(replaced), Some(file)) = (&whole.replaced, &whole.file) {
                let held = replaced.metadata()?;
                file.set_permissions(held.permissions())?;
                // Whoever may not give files away writes for their own.
                let _ = std::os::unix::fs::fchown(file, Some(held.uid()), Some(held.gid()));
            }
            if whole.is_nameless {
                whole.link_to(&whole.part)?;
            }
            std::fs::rename(&whole.part, &whole.path)
        })
    }

    fn link_to(&self, path: &Path) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let here = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, here, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn named(mut self, name: impl FnOnce(&Self) -> io::Result<()>) -> Result<(), ShareError> {
        let Some(file) = self.file.as_ref() else { return Ok(()) };
        file.sync_all().and_then(|()| name(&self)).map_err(cannot("write", &self.path))?;
        self.file = None;
        let dir = dir_of(&self.path);
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(cannot("write", dir))
    }
}

fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Drop for Whole {
    fn drop(&mut self) {
        if self.file.is_some() && !self.is_nameless {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

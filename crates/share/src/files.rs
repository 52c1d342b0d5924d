//! Files with the right mode, written whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

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

pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ShareError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(cannot("make", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(cannot("write", path))
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

/// A small file of our own, which is the old one or the new one whenever we are killed; what a kill has left beside it goes.
pub fn replace_small(path: &Path, bytes: &[u8]) -> Result<(), ShareError> {
    let _ = std::fs::remove_file(Whole::part_of(path));
    let mut whole = Whole::instead_of(path)?;
    whole.write_all(bytes).map_err(cannot("write", path))?;
    whole.finish()
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
    /// The name it has until then; `None` where it can be without any, so that not even a kill leaves a part of it.
    part: Option<PathBuf>,
    path: PathBuf,
    replaces: bool,
}

impl Whole {
    /// A new file: what has this name already stays.
    pub fn new(path: &Path) -> Result<Self, ShareError> {
        if path.symlink_metadata().is_ok() {
            return Err(cannot("write", path)(io::ErrorKind::AlreadyExists.into()));
        }
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        // Source: open(2), O_TMPFILE: not every file system has it.
        match rustix::fs::open(dir_of(path), flags, Mode::from_raw_mode(PRIVATE)) {
            Ok(file) => {
                Ok(Self { file: Some(file.into()), part: None, path: path.to_owned(), replaces: false })
            }
            Err(_) => Self::named(path, false),
        }
    }

    /// In the place of what is there, which is given up when the new one is whole. Its other name keeps a second one away meanwhile.
    pub fn instead_of(path: &Path) -> Result<Self, ShareError> {
        Self::named(path, true)
    }

    fn named(path: &Path, replaces: bool) -> Result<Self, ShareError> {
        let part = Self::part_of(path);
        let file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&part);
        let file = file.map_err(cannot("make", &part))?;
        Ok(Self { file: Some(file), part: Some(part), path: path.to_owned(), replaces })
    }

    /// The name that it has until it is whole.
    fn part_of(path: &Path) -> PathBuf {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        path.with_file_name(name)
    }

    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// On the disk, with its name.
    pub fn finish(mut self) -> Result<(), ShareError> {
        let Some(file) = self.file.as_ref() else { return Ok(()) };
        let done = file.sync_all().and_then(|()| match &self.part {
            Some(part) if self.replaces => std::fs::rename(part, &self.path),
            // Unlike rename, a link takes nobody's place.
            Some(part) => {
                std::fs::hard_link(part, &self.path)?;
                std::fs::remove_file(part)
            }
            None => {
                let here = format!("/proc/self/fd/{}", file.as_raw_fd());
                Ok(rustix::fs::linkat(CWD, here, CWD, &self.path, AtFlags::SYMLINK_FOLLOW)?)
            }
        });
        done.map_err(cannot("write", &self.path))?;
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
        if let (Some(_), Some(part)) = (&self.file, &self.part) {
            let _ = std::fs::remove_file(part);
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

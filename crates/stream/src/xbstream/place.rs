//! New files below one directory. Each part of a path is opened by itself and never through a link, so that nobody
//! who puts one there meanwhile leads a file out.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};

/// As mbstream makes them: a server's group may read, and the umask decides.
const FILE_MODE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR).union(Mode::S_IRGRP);
const DIRECTORY_MODE: Mode = Mode::S_IRWXU;

pub struct Place {
    root: OwnedFd,
}

impl Place {
    /// # Errors
    /// It cannot be opened.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self { root: File::open(root)?.into() })
    }

    /// A directory and those above it, where they are not there yet. The caller has looked at its path: names only, or nothing.
    ///
    /// # Errors
    /// It cannot be made, or something else is there.
    pub fn directory(&self, path: &[u8]) -> io::Result<()> {
        if path.is_empty() {
            return Ok(());
        }
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        self.open_directories(&parts).map(drop)
    }

    fn open_directories(&self, parts: &[&[u8]]) -> io::Result<Option<OwnedFd>> {
        let mut directory = None;
        for part in parts {
            let parent = directory.as_ref().unwrap_or(&self.root).as_fd();
            match mkdirat(parent, *part, DIRECTORY_MODE) {
                // A link or a file is refused when it is opened.
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            directory = Some(openat(parent, *part, flags, Mode::empty())?);
        }
        Ok(directory)
    }

    /// A file that is not there yet. The caller has looked at its path: names only.
    ///
    /// # Errors
    /// It is there, or cannot be made.
    pub fn create(&self, path: &[u8]) -> io::Result<File> {
        let mut parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let name = parts.pop().unwrap_or_default();
        let directory = self.open_directories(&parts)?;
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(directory.as_ref().unwrap_or(&self.root), name, flags, FILE_MODE)?.into())
    }
}

//! Files that are written past the page cache, as far as that goes: what is copied is not read again soon, and waiting for the disk at the
//! end would take longer than the copy.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::aligned::ALIGNED_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Cached,
    Direct,
    /// It is not worth it, or the file system cannot.
    AlwaysCached,
}

/// A new file, by a descriptor that nobody else writes through.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    mode: Mode,
}

impl DirectFile {
    pub fn new(file: File, is_direct: bool) -> Self {
        Self { file, mode: if is_direct { Mode::Cached } else { Mode::AlwaysCached } }
    }

    /// Whole blocks out of memory that is aligned go past the cache, all else goes through it.
    pub fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let is_aligned = offset.is_multiple_of(ALIGNED_BYTES as u64)
            && bytes.as_ptr().addr().is_multiple_of(ALIGNED_BYTES);
        let mut whole = if is_aligned { bytes.len() / ALIGNED_BYTES * ALIGNED_BYTES } else { 0 };
        let (first, _) = bytes.split_at(whole);
        if whole > 0 && self.switch_to(Mode::Direct) {
            match self.file.write_all_at(first, offset) {
                // It wants another alignment.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    self.switch_to(Mode::Cached);
                    self.mode = Mode::AlwaysCached;
                    whole = 0;
                }
                written => written?,
            }
        } else {
            whole = 0;
        }
        let (_, rest) = bytes.split_at(whole);
        if rest.is_empty() {
            return Ok(());
        }
        self.switch_to(Mode::Cached);
        self.file.write_all_at(rest, offset + whole as u64)
    }

    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    /// Whether it is so now.
    fn switch_to(&mut self, mode: Mode) -> bool {
        if self.mode == Mode::AlwaysCached || self.mode == mode {
            return self.mode == mode;
        }
        let flags = if mode == Mode::Direct { OFlag::O_DIRECT } else { OFlag::empty() };
        let is_done = fcntl(&self.file, FcntlArg::F_SETFL(flags)).is_ok();
        // A file system that refuses it has left the descriptor as it was.
        self.mode = if is_done { mode } else { Mode::AlwaysCached };
        is_done
    }
}

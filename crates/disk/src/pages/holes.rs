//! Holes of a sparse file: what a read of them gives is zeros, so they need not be read. A tablespace that was made
//! large in advance, or cut out of a backup, is mostly holes.

use std::fs::File;

use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

/// Shorter ones, as behind each page of a table with page compression, are read sooner than asked for.
pub const HOLE_BYTES_MIN: u64 = 1 << 20;

/// Asks a file where its next data begin.
pub struct Holes<'f> {
    file: &'f File,
    /// Data begin here, as far as was asked.
    data_at: u64,
    /// Up to here are data, or no hole that is worth a question.
    data_to: u64,
    /// A file system that cannot say is not asked again.
    is_told: bool,
}

impl<'f> Holes<'f> {
    pub fn of(file: &'f File) -> Self {
        Self { file, data_at: 0, data_to: 0, is_told: true }
    }

    /// How many bytes from `at` on lie in a hole, at most up to `to`; 0 where nothing tells.
    pub fn bytes_at(&mut self, at: u64, to: u64) -> u64 {
        if !self.is_told || (self.data_at..self.data_to).contains(&at) {
            return 0;
        }
        if at >= self.data_at {
            self.data_at = self.next_data(at, to).unwrap_or(at);
            let end = self.seek(self.data_at, Whence::SeekHole).unwrap_or(self.data_at);
            self.data_to = end.max(self.data_at + HOLE_BYTES_MIN);
        }
        self.data_at.min(to).saturating_sub(at)
    }

    fn seek(&self, at: u64, whence: Whence) -> Result<u64, Errno> {
        let at = i64::try_from(at).map_err(|_| Errno::EOVERFLOW)?;
        u64::try_from(lseek(self.file, at, whence)?).map_err(|_| Errno::EOVERFLOW)
    }

    fn next_data(&mut self, at: u64, to: u64) -> Option<u64> {
        match self.seek(at, Whence::SeekData) {
            Ok(data) => Some(data),
            // No data any more; or no file any more, which a read will find.
            Err(Errno::ENXIO) => (self.file.metadata().ok()?.len() >= to).then_some(to),
            Err(_) => {
                self.is_told = false;
                None
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_lies_before_data_is_a_hole_and_what_was_cut_off_is_none() {
        const MIB: u64 = 1 << 20;
        let file = tempfile::tempfile().unwrap();
        file.set_len(16 * MIB).unwrap();
        file.write_all_at(b"rows", 8 * MIB).unwrap();
        let mut holes = Holes::of(&file);
        assert_eq!(holes.bytes_at(0, 4 * MIB), 4 * MIB, "no further than asked");
        assert_eq!(holes.bytes_at(6 * MIB, 16 * MIB), 2 * MIB);
        assert_eq!(holes.bytes_at(8 * MIB, 16 * MIB), 0);
        assert_eq!(holes.bytes_at(12 * MIB, 16 * MIB), 4 * MIB, "to the end");
        // Data that a hole follows: it is found again behind them.
        let mut holes = Holes::of(&file);
        let mut at = 0;
        let mut read = 0;
        while at < 16 * MIB {
            let hole = holes.bytes_at(at, 16 * MIB);
            if hole == 0 {
                read += MIB / 8;
            }
            at += if hole == 0 { MIB / 8 } else { hole };
        }
        assert!((MIB / 8..=MIB).contains(&read), "{read}");
        file.set_len(9 * MIB).unwrap();
        assert_eq!(
            Holes::of(&file).bytes_at(12 * MIB, 16 * MIB),
            0,
            "it must be read to see that it is gone"
        );
    }
}

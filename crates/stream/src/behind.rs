//! Files whose pieces are gathered and written by another thread: who unpacks them does not wait for the disk while there is something to compute.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::aligned::Aligned;
use crate::direct::DirectFile;

/// What is gathered before it is written: a disk is waited for once for so much.
const GATHERED_BYTES: usize = 1 << 20;
/// Pieces that wait for the disk. More would only leave the processor's cache.
const UNDER_WAY_MAX: usize = 3;

/// A file, while pieces of it are on their way to the disk.
#[derive(Debug)]
struct Target {
    /// Only the writing thread waits for the disk with it locked, or nothing is under way.
    file: Mutex<DirectFile>,
    written: Mutex<Written>,
    is_less: Condvar,
}

#[derive(Debug, Default)]
struct Written {
    under_way: usize,
    /// The first failure. It stays: a file that has one is not whole, however often it is asked.
    failed: Option<(io::ErrorKind, String)>,
}

impl Written {
    fn result(&self) -> io::Result<()> {
        self.failed.as_ref().map_or(Ok(()), |(kind, why)| Err(io::Error::new(*kind, why.clone())))
    }
}

impl Target {
    /// Of a piece.
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all_at(bytes, offset)
    }

    fn fail(&self, error: &io::Error) {
        let mut now = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        now.failed.get_or_insert_with(|| (error.kind(), error.to_string()));
    }

    /// What has failed so far.
    fn failed(&self) -> io::Result<()> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).result()
    }

    /// Waits until nothing is under way.
    fn settled(&self) -> io::Result<()> {
        let mut now = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while now.under_way > 0 {
            now = self.is_less.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        now.result()
    }
}

struct Piece {
    target: Arc<Target>,
    room: Aligned,
    filled: usize,
    begin: u64,
    /// Somebody has tried to.
    is_written: bool,
}

impl Drop for Piece {
    /// Written or not, whoever waits for it must not wait for ever; one that nobody came to write has failed its file.
    fn drop(&mut self) {
        if !self.is_written {
            self.target.fail(&io::Error::other("what writes to the disk has ended"));
        }
        let mut now = self.target.written.lock().unwrap_or_else(PoisonError::into_inner);
        now.under_way = now.under_way.saturating_sub(1);
        self.target.is_less.notify_all();
    }
}

/// One that writes for a worker, in the order in which pieces come.
pub struct Behind {
    pieces: SyncSender<Piece>,
    free: Receiver<Aligned>,
}

/// The other half, for a thread of its own.
pub struct Writing {
    pieces: Receiver<Piece>,
    free: SyncSender<Aligned>,
}

pub fn behind() -> (Behind, Writing) {
    let (pieces, arrived) = sync_channel(UNDER_WAY_MAX);
    let (freed, free) = sync_channel(UNDER_WAY_MAX);
    (Behind { pieces, free }, Writing { pieces: arrived, free: freed })
}

impl Writing {
    /// Until the other half is gone.
    pub fn run(self) {
        for mut piece in self.pieces {
            let (filled, begin) = (piece.filled, piece.begin);
            if let Err(error) = piece.target.write(piece.room.first(filled), begin) {
                piece.target.fail(&error);
            }
            piece.is_written = true;
            let room = std::mem::replace(&mut piece.room, Aligned::new(0, 0));
            drop(piece);
            // As many as are needed lie there already.
            let _ = self.free.try_send(room);
        }
    }
}

impl Behind {
    fn room(&self) -> Aligned {
        match self.free.try_recv() {
            Ok(room) => room,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Aligned::new(0, GATHERED_BYTES),
        }
    }
}

/// What comes in pieces of any length, one behind the other, and is written in large ones.
pub struct Gathered {
    target: Arc<Target>,
    /// Until there is something to gather.
    room: Option<Aligned>,
    filled: usize,
    /// Behind what was written and what is gathered; holes too.
    at: u64,
}

impl Gathered {
    pub fn new(file: DirectFile) -> Self {
        let target = Target { file: Mutex::new(file), written: Mutex::default(), is_less: Condvar::new() };
        Self { target: Arc::new(target), room: None, filled: 0, at: 0 }
    }

    /// Behind the last byte.
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn held_bytes(&self) -> usize {
        if self.room.is_some() { GATHERED_BYTES } else { 0 }
    }

    /// # Errors
    /// Also of pieces before.
    pub fn write(&mut self, mut bytes: &[u8], behind: &Behind) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.room(behind);
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            let (into, _) = room.split_at_mut(now.len());
            into.copy_from_slice(now);
            bytes = later;
            self.made(now.len(), behind)?;
        }
        Ok(())
    }

    /// Where the next bytes belong, for who can make them there. Never empty.
    pub fn room(&mut self, behind: &Behind) -> &mut [u8] {
        let room = self.room.get_or_insert_with(|| behind.room());
        room.first(GATHERED_BYTES).get_mut(self.filled..).unwrap_or_default()
    }

    /// So many of the room are there now.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn made(&mut self, count: usize, behind: &Behind) -> io::Result<()> {
        self.filled += count;
        self.at = self.at.saturating_add(count as u64);
        if self.filled >= GATHERED_BYTES { self.flush(behind) } else { Ok(()) }
    }

    /// A hole.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn skip(&mut self, bytes: u64, behind: &Behind) -> io::Result<()> {
        self.flush(behind)?;
        self.at = self.at.saturating_add(bytes);
        Ok(())
    }

    /// Nothing follows. A hole at the end is not written, so that the length is set.
    ///
    /// # Errors
    /// Of any of its pieces.
    pub fn finish(&mut self, has_holes: bool) -> io::Result<()> {
        self.target.settled()?;
        // A small file is not worth another thread.
        let begin = self.at.saturating_sub(self.filled as u64);
        if let Some(mut room) = self.room.take()
            && self.filled > 0
        {
            self.target.write(room.first(self.filled), begin)?;
        }
        self.filled = 0;
        if has_holes {
            self.target.file.lock().unwrap_or_else(PoisonError::into_inner).set_len(self.at)?;
        }
        Ok(())
    }

    fn flush(&mut self, behind: &Behind) -> io::Result<()> {
        self.target.failed()?;
        let begin = self.at.saturating_sub(self.filled as u64);
        if self.filled == 0 {
            return Ok(());
        }
        if let Some(room) = self.room.take() {
            self.target.written.lock().unwrap_or_else(PoisonError::into_inner).under_way += 1;
            let target = self.target.clone();
            let piece = Piece { target, room, filled: self.filled, begin, is_written: false };
            self.filled = 0;
            // Nobody writes any more: what was not written must not count.
            behind.pieces.send(piece).map_err(|_| io::Error::other("what writes to the disk has ended"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs::File;

    use super::*;

    #[test]
    fn pieces_of_any_length_and_holes_are_where_they_belong() {
        let place = tempfile::tempdir().unwrap();
        for (seed, is_direct) in [(1, true), (2, true), (3, false)] {
            let mut rng = fastrand::Rng::with_seed(seed);
            let path = place.path().join(seed.to_string());
            let (behind, writing) = behind();
            let writer = std::thread::spawn(|| writing.run());
            let mut found = Gathered::new(DirectFile::new(File::create_new(&path).unwrap(), is_direct));
            let mut wanted: Vec<u8> = Vec::new();
            let mut has_holes = false;
            for step in 0..40 {
                let mut piece = vec![0; rng.usize(..3 << 19)];
                rng.fill(&mut piece);
                wanted.extend_from_slice(&piece);
                found.write(&piece, &behind).unwrap();
                if seed == 2 && step % 7 == 6 {
                    let hole = rng.usize(..5 << 12);
                    wanted.resize(wanted.len() + hole, 0);
                    found.skip(hole as u64, &behind).unwrap();
                    has_holes = true;
                }
            }
            found.finish(has_holes).unwrap();
            assert_eq!(found.at(), wanted.len() as u64);
            assert!(std::fs::read(&path).unwrap() == wanted, "{seed}");
            drop(behind);
            writer.join().unwrap();
        }
    }

    #[test]
    fn a_piece_that_cannot_be_written_fails_its_file_and_no_other() {
        let place = tempfile::tempdir().unwrap();
        let (behind, writing) = behind();
        let writer = std::thread::spawn(|| writing.run());
        let path = place.path().join("a");
        File::create_new(&path).unwrap();
        // Open for reading only.
        let mut bad = Gathered::new(DirectFile::new(File::open(&path).unwrap(), false));
        let mut good =
            Gathered::new(DirectFile::new(File::create_new(place.path().join("b")).unwrap(), true));
        let piece = vec![7; 5 * GATHERED_BYTES / 2];
        let _ = bad.write(&piece, &behind);
        good.write(&piece, &behind).unwrap();
        assert!(bad.finish(false).is_err());
        assert!(bad.finish(false).is_err(), "asked twice it is no whole file either");
        good.finish(false).unwrap();
        assert_eq!(std::fs::metadata(place.path().join("b")).unwrap().len(), piece.len() as u64);
        drop(behind);
        writer.join().unwrap();
    }

    #[test]
    fn without_its_thread_nothing_counts_as_written() {
        let place = tempfile::tempdir().unwrap();
        let (behind, writing) = behind();
        drop(writing);
        let mut file =
            Gathered::new(DirectFile::new(File::create_new(place.path().join("a")).unwrap(), true));
        assert!(file.write(&vec![7; 2 * GATHERED_BYTES], &behind).is_err());
        assert!(file.finish(false).is_err());
    }

    #[test]
    fn a_piece_that_waits_for_a_thread_which_ends_fails_its_file() {
        let place = tempfile::tempdir().unwrap();
        let (behind, writing) = behind();
        let mut file =
            Gathered::new(DirectFile::new(File::create_new(place.path().join("a")).unwrap(), true));
        file.write(&vec![7; GATHERED_BYTES], &behind).unwrap();
        drop(writing);
        assert!(file.finish(false).is_err());
    }
}

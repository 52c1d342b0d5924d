//! Room for what is read and not yet written: bounded, and used again.

use std::sync::{Condvar, Mutex, PoisonError};

/// What is read and not yet written. A few chunks of 10 MiB, as tools write them: more would only leave the
/// processor's cache. A larger chunk is taken when nothing else is under way.
const UNDER_WAY_BYTES: usize = 32 << 20;
/// What a chunk takes beside its bytes.
const CHUNK_BYTES: usize = 1024;
const POOLED_MAX: usize = 8;
/// Smaller ones come from memory that the allocator keeps by itself, and would only take the places of large ones.
const POOLED_BYTES_MIN: usize = 256 << 10;

/// How much is under way, and buffers that are used again: fresh memory costs more than what is done with it.
#[derive(Default)]
pub struct Buffers {
    under_way_bytes: Mutex<usize>,
    is_less: Condvar,
    pool: Mutex<Vec<Vec<u8>>>,
}

/// Room that is given back when nobody has it any more: also when its worker has ended before its time.
pub struct Buffer<'b> {
    buffers: &'b Buffers,
    taken_bytes: usize,
    pub bytes: Vec<u8>,
}

impl Buffers {
    /// Waits until there is room. The buffer is empty, or has old bytes in it.
    pub fn take(&self, wanted: usize) -> Buffer<'_> {
        let taken_bytes = wanted + CHUNK_BYTES;
        let mut bytes = self.under_way_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *bytes > 0 && *bytes + taken_bytes > UNDER_WAY_BYTES {
            bytes = self.is_less.wait(bytes).unwrap_or_else(PoisonError::into_inner);
        }
        *bytes += taken_bytes;
        drop(bytes);
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        // Not much larger, either: memory is counted by what is in it.
        let fits = |one: &Vec<u8>| one.capacity() >= wanted && one.capacity() / 2 <= taken_bytes;
        let fitting = pool.iter().position(fits);
        let bytes = fitting.map(|index| pool.swap_remove(index)).unwrap_or_default();
        Buffer { buffers: self, taken_bytes, bytes }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        let mut pool = self.buffers.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let pooled: usize = pool.iter().map(Vec::capacity).sum();
        let is_large = self.bytes.capacity() >= POOLED_BYTES_MIN;
        if is_large && pool.len() < POOLED_MAX && pooled + self.bytes.capacity() <= UNDER_WAY_BYTES {
            pool.push(std::mem::take(&mut self.bytes));
        }
        drop(pool);
        let mut bytes = self.buffers.under_way_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *bytes = bytes.saturating_sub(self.taken_bytes);
        self.buffers.is_less.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_for_room_and_one_large_chunk_is_taken_alone() {
        let buffers = Buffers::default();
        let large = buffers.take(2 * UNDER_WAY_BYTES);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| buffers.take(1).taken_bytes);
            drop(large);
            assert_eq!(waits.join().ok(), Some(1 + CHUNK_BYTES));
        });
        assert_eq!(*buffers.under_way_bytes.lock().unwrap_or_else(PoisonError::into_inner), 0);
    }

    #[test]
    fn a_small_chunk_does_not_hold_a_large_buffer() {
        let buffers = Buffers::default();
        let mut first = buffers.take(1 << 20);
        first.bytes.reserve_exact(1 << 20);
        drop(first);
        assert_eq!(buffers.take(10).bytes.capacity(), 0);
        assert!(buffers.take(1 << 20).bytes.capacity() >= 1 << 20);
    }
}

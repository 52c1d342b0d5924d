//! BLAKE3 of a file whose parts come in any order, on several connections.
//!
//! A file is cut into cells; each is a whole subtree of BLAKE3's tree, so that the digest of the file, the one that `b3sum` prints,
//! follows from those of its cells. What a hole would read as, zeros, is part of it.
//!
//! # Source
//! The BLAKE3 paper, 2.1 (the tree), and the crate's `hazmat`: a subtree begins at a multiple of its length, a power of two.

use blake3::hazmat::{HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};

/// What a connection takes at once, and what is sent again after a cut: large enough that each costs next to nothing, small enough that a
/// line that breaks all the time still gets somewhere.
pub const CELL_BYTES: u64 = 1 << 20;

/// Of a file; or of one of its cells, if it has several.
pub type Digest = [u8; 32];

const ZEROS: &[u8; 64 << 10] = &[0; 64 << 10];

/// One cell, from its beginning to its end.
pub struct CellHasher {
    hasher: blake3::Hasher,
    at: u64,
    end: u64,
    /// There is no other cell in the file.
    is_only: bool,
}

/// How many cells a file has.
pub fn count(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(CELL_BYTES)
}

impl CellHasher {
    pub fn new(size_bytes: u64, cell: u64) -> Self {
        let at = cell.saturating_mul(CELL_BYTES).min(size_bytes);
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(at);
        let end = at.saturating_add(CELL_BYTES).min(size_bytes);
        Self { hasher, at, end, is_only: size_bytes <= CELL_BYTES }
    }

    /// Of which byte of the file the next one is.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// What is behind the end of the cell does not count.
    pub fn update(&mut self, bytes: &[u8]) {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let (bytes, _) = bytes.split_at(bytes.len().min(left));
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
    }

    /// A hole up to there.
    pub fn skip_to(&mut self, offset: u64) {
        let to = offset.min(self.end);
        while self.at < to {
            let wanted = usize::try_from(to - self.at).unwrap_or(usize::MAX).min(ZEROS.len());
            let (zeros, _) = ZEROS.split_at(wanted);
            self.update(zeros);
        }
    }

    /// What did not come is a hole.
    pub fn finish(mut self) -> Digest {
        self.skip_to(self.end);
        if self.is_only { self.hasher.finalize().into() } else { self.hasher.finalize_non_root() }
    }
}

/// Of a cell that is a hole.
pub fn hole(size_bytes: u64, cell: u64) -> Digest {
    CellHasher::new(size_bytes, cell).finish()
}

/// Of the whole file. `cell` is asked for each cell, once and in order.
pub fn file_digest<E>(size_bytes: u64, cell: &mut dyn FnMut(u64) -> Result<Digest, E>) -> Result<Digest, E> {
    match size_bytes {
        0 => Ok(blake3::hash(b"").into()),
        one if one <= CELL_BYTES => cell(0),
        more => {
            let left = left_subtree_len(more);
            let (a, b) = (subtree(0, left, cell)?, subtree(left, more - left, cell)?);
            Ok(merge_subtrees_root(&a, &b, Mode::Hash).into())
        }
    }
}

fn subtree<E>(offset: u64, bytes: u64, cell: &mut dyn FnMut(u64) -> Result<Digest, E>) -> Result<Digest, E> {
    if bytes <= CELL_BYTES {
        return cell(offset / CELL_BYTES);
    }
    let left = left_subtree_len(bytes);
    let (a, b) = (subtree(offset, left, cell)?, subtree(offset + left, bytes - left, cell)?);
    Ok(merge_subtrees_non_root(&a, &b, Mode::Hash))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cells_make_the_digest_that_everybody_else_computes() {
        let mut rng = fastrand::Rng::with_seed(29);
        let sizes =
            [0, 1, 1023, CELL_BYTES - 1, CELL_BYTES, CELL_BYTES + 1, 2 * CELL_BYTES, 5 * CELL_BYTES + 77];
        for size in sizes {
            let mut bytes = vec![0; usize::try_from(size).unwrap()];
            rng.fill(&mut bytes);
            // A hole in the middle.
            let (from, to) = (bytes.len() / 3, bytes.len() / 2);
            bytes[from..to].fill(0);
            let mut digest = |cell: u64| -> Result<Digest, ()> {
                let mut hasher = CellHasher::new(size, cell);
                while hasher.at() < (cell + 1) * CELL_BYTES && hasher.at() < size {
                    let at = usize::try_from(hasher.at()).unwrap();
                    if (from..to).contains(&at) {
                        hasher.skip_to(to as u64);
                    } else {
                        let end = if at < from { from } else { bytes.len() };
                        hasher.update(&bytes[at..end.min(at + 1_000_003)]);
                    }
                }
                Ok(hasher.finish())
            };
            let found = file_digest(size, &mut digest).unwrap();
            assert_eq!(found, *blake3::hash(&bytes).as_bytes(), "{size}");
        }
        let all: Result<Digest, ()> = file_digest(3 * CELL_BYTES, &mut |cell| Ok(hole(3 * CELL_BYTES, cell)));
        assert_eq!(all.unwrap(), *blake3::hash(&vec![0; 3 << 20]).as_bytes());
    }
}

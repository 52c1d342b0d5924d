//! Random numbers that a seed repeats.

/// # Source
/// SplitMix64 (Steele, Lea, Flood 2014): good enough to choose durations, and a few lines long.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x5ea1_1017)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True in `of` of a hundred cases.
    pub fn percent(&mut self, of: u64) -> bool {
        self.next() % 100 < of
    }

    /// The numbers below `count`, in some order.
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            all.swap(at, usize::try_from(self.between(0, at as u64)).unwrap_or(at));
        }
        all
    }

    /// One of a list.
    pub fn choose<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let at = usize::try_from(self.between(0, (list.len() as u64).max(1) - 1)).unwrap_or(0);
        list.get(at).copied()
    }
}

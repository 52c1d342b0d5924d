//! No more bytes a second than was asked for, over all connections.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A wait is looked at so often: whoever wants to stop does not wait for the end of it.
const SLICE: Duration = Duration::from_millis(100);

pub struct Limit {
    bytes_per_s: Option<u64>,
    /// When all that was let through would have passed at that rate.
    free_at: Mutex<Instant>,
}

impl Limit {
    pub fn new(bytes_per_s: Option<u64>) -> Self {
        Self { bytes_per_s, free_at: Mutex::new(Instant::now()) }
    }

    pub fn is_one(&self) -> bool {
        self.bytes_per_s.is_some()
    }

    /// Waits until so many bytes may go, or until `stops`.
    pub fn pass(&self, bytes: usize, stops: &dyn Fn() -> bool) {
        let Some(bytes_per_s) = self.bytes_per_s else { return };
        let takes = Duration::from_secs_f64(bytes as f64 / bytes_per_s.max(1) as f64);
        let until = {
            let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
            // Time in which nobody sent is not made up for.
            let begins = (*free_at).max(Instant::now());
            *free_at = begins + takes;
            begins
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stops() {
                return;
            }
            std::thread::sleep(left.min(SLICE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_goes_than_was_asked_for_and_whoever_stops_does_not_wait() {
        let (limit, began) = (Limit::new(Some(1_000_000)), Instant::now());
        for _ in 0..5 {
            limit.pass(50_000, &|| false);
        }
        // The first goes at once.
        assert!(began.elapsed() >= Duration::from_millis(200));
        limit.pass(1 << 40, &|| false);
        limit.pass(1, &|| true);
        Limit::new(None).pass(1 << 40, &|| false);
    }
}

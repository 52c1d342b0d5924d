//! Whether a load has warmed up: its throughput does not change any more.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(500);
/// Two times so many windows are compared: two seconds with the two before.
const WINDOWS: usize = 4;
/// Of the earlier mean. A window of half a second differs from the next by some per cent whatever happens.
const CHANGE_MAX: f64 = 0.05;

/// What was done, window by window.
#[derive(Debug, Default)]
pub struct WarmupDetector {
    windows: VecDeque<f64>,
    /// When the last window ended, and what had been done until then.
    last: Option<(Instant, u64)>,
}

impl WarmupDetector {
    /// `done` since the beginning. True when the last two seconds were as fast as the two before.
    pub fn is_steady(&mut self, now: Instant, done: u64) -> bool {
        let Some((since, before)) = self.last else {
            self.last = Some((now, done));
            return false;
        };
        let took = now.saturating_duration_since(since);
        if took >= WINDOW {
            self.last = Some((now, done));
            self.windows.push_back(done.saturating_sub(before) as f64 / took.as_secs_f64());
            if self.windows.len() > 2 * WINDOWS {
                self.windows.pop_front();
            }
        }
        let half = |skipped: usize| self.windows.iter().skip(skipped).take(WINDOWS).sum::<f64>();
        let (earlier, later) = (half(0), half(WINDOWS));
        self.windows.len() == 2 * WINDOWS && earlier > 0.0 && (later - earlier).abs() <= earlier * CHANGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many seconds a load is steady that does so many in the half second of that number.
    fn steady_after_s(rate: impl Fn(u32) -> u64) -> Option<f64> {
        let (mut warmth, begin, mut done) = (WarmupDetector::default(), Instant::now(), 0);
        for half in 0..120 {
            if warmth.is_steady(begin + WINDOW * half, done) {
                return Some(f64::from(half) / 2.0);
            }
            done += rate(half);
        }
        None
    }

    #[test]
    fn what_rises_is_not_steady_and_what_wavers_is() {
        assert_eq!(steady_after_s(|_| 1_000), Some(4.0));
        // Seven per cent up and down from window to window.
        assert_eq!(steady_after_s(|half| if half % 2 == 0 { 930 } else { 1_070 }), Some(4.0));
        // Pages come into memory for ten seconds.
        let seen = steady_after_s(|half| 200 + 40 * u64::from(half.min(20))).expect("it ends");
        assert!((10.0..=14.0).contains(&seen), "{seen}");
        assert_eq!(steady_after_s(|_| 0), None);
        assert_eq!(steady_after_s(|half| 1 << half.min(40)).map(|seen| seen > 20.0), Some(true));
    }
}

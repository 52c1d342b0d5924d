//! The clock of the load loop.

use std::time::Instant;

use nix::time::{ClockId, clock_gettime};

use super::measure::ns;

/// ns on the clock that `Instant` has too, as a number: it is subtracted for every statement.
pub type Moment = u64;

pub fn now() -> Moment {
    // This clock is always there, and begins with the machine. By libc: rustix's own way to it ends valgrind's runs.
    let Ok(at) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
    at.tv_sec().cast_unsigned() * 1_000_000_000 + at.tv_nsec().cast_unsigned()
}

pub fn moment(at: Instant) -> Moment {
    let here = Instant::now();
    match at.checked_duration_since(here) {
        Some(ahead) => now().saturating_add(ns(ahead)),
        None => now().saturating_sub(ns(here.duration_since(at))),
    }
}

/// How far the counter may be from the kernel's clock: of the time since they were the same, and on top of it.
const OFF_SHARE: u64 = 100;
const OFF_NS: u64 = 2_000;
/// A processor is taken away now and then; where each look takes so long, it is the kernel's clock that is slow.
const MISSES_MAX: u8 = 100;
/// So long, and so often, the counter is believed.
const TRUSTED_NS: u64 = 1_000_000;
const LOOKS_MAX: u16 = 256;

/// Learns how fast the processor's counter goes, once for the process: that takes up to 0.2 s of it, and is to be over before
/// anything is measured.
pub fn learn() {
    let _ = Ticker::start();
}

/// The clock of a thread that asks for every wake: the processor's counter where it is steady, which is one instruction and not
/// three functions, put right by the kernel's clock every millisecond. Where the two do not agree, or cannot be held against each
/// other, the kernel's clock is used from then on.
#[derive(Debug)]
pub struct Ticker {
    counter: Option<quanta::Clock>,
    since: Moment,
    since_ticks: u64,
    /// Since they were the same. A counter that stands still says nothing of the time that has passed.
    looks: u16,
    /// Looks, one after the other, that found them too far apart in time.
    misses: u8,
}

impl Ticker {
    pub fn start() -> Self {
        let counter = quanta::Clock::new();
        let seen = (0..MISSES_MAX).find_map(|_| both(&counter));
        let (since, since_ticks) = seen.unwrap_or_default();
        Self { since, since_ticks, counter: seen.map(|_| counter), looks: 0, misses: 0 }
    }

    #[inline]
    pub fn now(&mut self) -> Moment {
        let Some(counter) = &self.counter else { return now() };
        let passed = counter.delta_as_nanos(self.since_ticks, counter.raw());
        self.looks += 1;
        if passed < TRUSTED_NS && self.looks < LOOKS_MAX {
            return self.since + passed;
        }
        self.settle()
    }

    /// Puts the counter right, and says what the kernel's clock does.
    #[cold]
    fn settle(&mut self) -> Moment {
        let Some((is, ticks)) = self.counter.as_ref().and_then(both) else {
            self.misses += 1;
            if self.misses == MISSES_MAX {
                self.counter = None;
            }
            return now();
        };
        let said = self.counter.as_ref().map_or(0, |counter| counter.delta_as_nanos(self.since_ticks, ticks));
        let passed = is.saturating_sub(self.since);
        if is_off(passed, said.abs_diff(passed)) {
            self.counter = None;
        }
        (self.since, self.since_ticks, self.looks, self.misses) = (is, ticks, 0, 0);
        is
    }
}

/// Both at the same time; `None` when the processor did something else in between, or the kernel's clock is a slow one.
fn both(counter: &quanta::Clock) -> Option<(Moment, u64)> {
    let before = counter.raw();
    let is = now();
    let after = counter.raw();
    (counter.delta_as_nanos(before, after) <= OFF_NS).then_some((is, after))
}

fn is_off(passed_ns: u64, off_ns: u64) -> bool {
    off_ns > passed_ns / OFF_SHARE + OFF_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_between_two_looks_at_the_kernel_s_clock() {
        let mut ticker = Ticker::start();
        let allowed = TRUSTED_NS / OFF_SHARE + OFF_NS;
        for _ in 0..100_000 {
            let before = now();
            let seen = ticker.now();
            let after = now();
            assert!(seen + allowed >= before && seen <= after + allowed, "{before} {seen} {after}");
        }
    }

    /// It jumped, by much more than passes here: what it says is no further off than it is trusted, and soon it is not asked.
    fn is_given_up(mut ticker: Ticker) {
        for _ in 0..u32::from(LOOKS_MAX) * u32::from(MISSES_MAX) {
            let before = now();
            let seen = ticker.now();
            assert!(seen + 1_000_000_000 > before && seen <= now() + TRUSTED_NS, "{before} {seen}");
        }
        assert!(ticker.counter.is_none());
        assert!(ticker.now() <= now());
    }

    #[test]
    fn a_counter_that_jumps_ahead_is_not_used() {
        let mut ticker = Ticker::start();
        ticker.since_ticks = ticker.since_ticks.saturating_sub(u64::from(u32::MAX) * 1000);
        is_given_up(ticker);
    }

    #[test]
    fn a_counter_that_jumps_back_is_not_used() {
        let mut ticker = Ticker::start();
        ticker.since_ticks += u64::from(u32::MAX) * 1000;
        is_given_up(ticker);
    }

    #[test]
    fn a_hundredth_is_allowed() {
        assert!(!is_off(1_000_000, 11_000));
        assert!(is_off(1_000_000, 13_000));
        assert!(!is_off(0, 2_000));
    }
}

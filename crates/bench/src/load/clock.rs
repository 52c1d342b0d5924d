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

/// The clock of a thread that asks for every wake: the processor's counter where it is steady, which is one instruction and not
/// three functions, put right by the kernel's clock whenever somebody has a moment. Where the two do not agree, the kernel's
/// clock is used from then on.
#[derive(Debug)]
pub struct Ticker {
    counter: Option<quanta::Clock>,
    since: Moment,
    since_ticks: u64,
}

impl Ticker {
    pub fn start() -> Self {
        let counter = quanta::Clock::new();
        Self { since: now(), since_ticks: counter.raw(), counter: Some(counter) }
    }

    #[inline]
    pub fn now(&self) -> Moment {
        match &self.counter {
            Some(counter) => self.since + counter.delta_as_nanos(self.since_ticks, counter.raw()),
            None => now(),
        }
    }

    /// Puts the counter right; now and then, at most a second apart.
    pub fn settle(&mut self) {
        let Some(counter) = &self.counter else { return };
        let before = counter.raw();
        let is = now();
        let after = counter.raw();
        if counter.delta_as_nanos(before, after) > OFF_NS {
            // The processor did something else in between: the next time will do.
            return;
        }
        let said = self.since + counter.delta_as_nanos(self.since_ticks, after);
        if is_off(is.saturating_sub(self.since), said.abs_diff(is)) {
            self.counter = None;
            return;
        }
        (self.since, self.since_ticks) = (is, after);
    }
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
        for round in 0..10_000 {
            let before = now();
            let seen = ticker.now();
            let after = now();
            let allowed = (after - ticker.since) / OFF_SHARE + OFF_NS;
            assert!(seen + allowed >= before && seen <= after + allowed, "{before} {seen} {after}");
            if round % 1000 == 0 {
                ticker.settle();
            }
        }
    }

    #[test]
    fn a_counter_that_says_something_else_is_not_used() {
        let mut ticker = Ticker::start();
        // It jumped, by much more than passes here.
        ticker.since_ticks = ticker.since_ticks.saturating_sub(u64::from(u32::MAX) * 1000);
        let (was, is_counting) = (ticker.now(), ticker.counter.is_some());
        assert!(is_counting && was > now() + 1_000_000_000);
        while ticker.counter.is_some() {
            ticker.settle();
        }
        assert!(ticker.now() <= now());
    }

    #[test]
    fn a_hundredth_is_allowed() {
        assert!(!is_off(1_000_000, 11_000));
        assert!(is_off(1_000_000, 13_000));
        assert!(!is_off(0, 2_000));
    }
}

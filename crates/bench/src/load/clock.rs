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

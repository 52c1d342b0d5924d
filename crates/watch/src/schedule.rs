//! When the next look begins.

use std::time::Duration;

/// A tenth earlier or later: many who were started at once do not all knock at once for ever.
const JITTER: f64 = 0.1;

/// The time from the beginning of one look to that of the next. `chance` is 0 to 1.
pub fn until_next(every: Duration, chance: f64) -> Duration {
    let chance = if chance.is_finite() { chance.clamp(0.0, 1.0) } else { 0.5 };
    every.mul_f64(1.0 + JITTER * (2.0 * chance - 1.0))
}

/// After a late look the next one is not made up for: two in a row would only double the load on a slow server.
pub fn due(last_began: Duration, gap: Duration, now: Duration) -> Duration {
    (last_began + gap).max(now)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn looks_come_as_often_as_asked_for_and_never_in_the_past(every_ms in 1_u64..10_000_000, chance in any::<f64>(), now_ms in 0_u64..1_000_000_000) {
            let every = Duration::from_millis(every_ms);
            let gap = until_next(every, chance);
            prop_assert!(gap >= every.mul_f64(0.899) && gap <= every.mul_f64(1.101), "{gap:?}");
            let now = Duration::from_millis(now_ms);
            prop_assert!(due(Duration::ZERO, gap, now) >= now);
        }
    }
}

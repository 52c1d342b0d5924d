//! Events that come whether or not somebody is there for them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::clock::{Moment, moment, now};
use super::measure::{Tally, ns};

/// More cannot be served any more; their memory is for something else.
const LATE_MAX: usize = 1_000_000;

/// One stream for all workers: whoever has a connection that is free takes the next.
#[derive(Debug)]
pub struct Arrivals {
    mean: Duration,
    stream: Mutex<Stream>,
}

#[derive(Debug)]
struct Stream {
    next: Moment,
    /// Came, and no connection was free.
    late: VecDeque<Moment>,
    random: fastrand::Rng,
    /// Of those before it nobody counts any.
    measure_at: Moment,
    due: u64,
    turned_away: u64,
}

impl Arrivals {
    pub fn new(rate_per_s: f64, measure_at: Instant, seed: u64) -> Self {
        let stream = Stream {
            next: now(),
            late: VecDeque::new(),
            random: fastrand::Rng::with_seed(seed),
            measure_at: moment(measure_at),
            due: 0,
            turned_away: 0,
        };
        Self { mean: Duration::from_secs_f64(1.0 / rate_per_s), stream: Mutex::new(stream) }
    }

    fn until(&self, now: Moment) -> MutexGuard<'_, Stream> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        while stream.next <= now {
            stream.due += u64::from(stream.next >= stream.measure_at);
            if stream.late.len() < LATE_MAX {
                let next = stream.next;
                stream.late.push_back(next);
            } else {
                stream.turned_away += 1;
            }
            // As if each of very many users came by chance.
            let gap = self.mean.mul_f64(-(1.0 - stream.random.f64()).ln());
            stream.next += ns(gap);
        }
        stream
    }

    /// Since when the oldest waits; or when the next comes.
    pub fn take(&self, now: Moment) -> Result<Moment, Moment> {
        let mut stream = self.until(now);
        let next = stream.next;
        stream.late.pop_front().ok_or(next)
    }

    /// Counts what came until then. Who still waits has waited so long at least.
    pub fn close(&self, end: Moment, tally: &mut Tally) {
        let stream = self.until(end);
        tally.due = stream.due;
        tally.late_at_end = stream.late.len() as u64;
        tally.turned_away = stream.turned_away;
        for since in &stream.late {
            tally.event_ns.saturating_record(end.saturating_sub(*since));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_one_stream_and_who_still_waits_has_waited() {
        let begin = now();
        let arrivals = Arrivals::new(1000.0, Instant::now(), 7);
        // Nobody takes any for a second; then one after the other, the oldest first.
        let end = begin + 1_000_000_000;
        let first = arrivals.take(end).expect("a thousand wait");
        let second = arrivals.take(end).expect("a thousand wait");
        assert!(begin <= first && first <= second && second <= end);
        let mut tally = Tally::default();
        arrivals.close(end, &mut tally);
        // Five standard deviations of a thousand.
        assert!((840..1160).contains(&tally.due), "{}", tally.due);
        assert!(tally.late_at_end + 2 >= tally.due && tally.turned_away == 0);
        assert_eq!(tally.event_ns.len(), tally.late_at_end);
        // They came evenly, so that they have waited half of it on average.
        assert!((0.45e9..0.55e9).contains(&tally.event_ns.mean()), "{}", tally.event_ns.mean());
        while arrivals.take(end).is_ok() {}
        assert!(arrivals.take(end).is_err_and(|next| next > end));
    }
}

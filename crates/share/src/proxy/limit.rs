//! How often one address may ask. A proxy signs nothing and looks at little before a request is signed, but each costs a thread and a look into
//! the database.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Requests of one address in a second, in the long run.
pub const REQUESTS_PER_S: u32 = 50;
/// At once, by somebody who was away.
pub const BURST: u32 = 500;
/// Addresses that are remembered; the ones that have been away longest are forgotten first, which only helps them.
const ADDRESSES_MAX: usize = 4096;

/// A bucket of requests for each address.
#[derive(Debug, Default)]
pub struct Limit {
    buckets: HashMap<IpAddr, (f64, Instant)>,
}

impl Limit {
    /// Takes one request of `address`, or says how long it is to wait.
    pub fn take(&mut self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        if self.buckets.len() >= ADDRESSES_MAX && !self.buckets.contains_key(&address) {
            let is_full = |left: f64, at: Instant| filled(left, at, now) >= f64::from(BURST);
            self.buckets.retain(|_, (left, at)| !is_full(*left, *at));
            if self.buckets.len() >= ADDRESSES_MAX
                && let Some(oldest) = self.buckets.iter().min_by_key(|(_, (_, at))| *at).map(|(one, _)| *one)
            {
                self.buckets.remove(&oldest);
            }
        }
        let (left, at) = self.buckets.entry(address).or_insert((f64::from(BURST), now));
        *left = filled(*left, *at, now);
        *at = now;
        if *left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - *left) / f64::from(REQUESTS_PER_S)));
        }
        *left -= 1.0;
        Ok(())
    }
}

fn filled(left: f64, at: Instant, now: Instant) -> f64 {
    let more = now.saturating_duration_since(at).as_secs_f64() * f64::from(REQUESTS_PER_S);
    (left + more).min(f64::from(BURST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_when_it_has_had_enough_and_others_do_not() {
        let (mut limit, began) = (Limit::default(), Instant::now());
        let (loud, quiet) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for number in 0..BURST {
            assert_eq!(limit.take(loud, began), Ok(()), "{number}");
        }
        let wait = limit.take(loud, began).expect_err("it is enough");
        assert!(wait <= Duration::from_millis(20), "{wait:?}");
        assert_eq!(limit.take(quiet, began), Ok(()));
        let later = began + Duration::from_secs(1);
        for number in 0..REQUESTS_PER_S {
            assert_eq!(limit.take(loud, later), Ok(()), "{number}");
        }
        assert!(limit.take(loud, later).is_err());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut limit, began) = (Limit::default(), Instant::now());
        for number in 0..u32::try_from(ADDRESSES_MAX).unwrap_or(0) + 100 {
            assert_eq!(limit.take(IpAddr::from(number.to_be_bytes()), began), Ok(()));
        }
        assert_eq!(limit.buckets.len(), ADDRESSES_MAX);
    }
}

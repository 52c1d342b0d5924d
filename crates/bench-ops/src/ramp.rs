//! Rates that rise until the server keeps up no more: the knee.

use std::sync::atomic::{AtomicBool, Ordering};

use net::ConnectOptions;
use report::shape::LoadReport;

use super::{Load, load};
use site::OpsError;

/// Steps where none are named.
const STEPS: u32 = 8;
const STEPS_MAX: u32 = 50;
/// Of the events that came in a step, that may be left when it ends beyond what chance leaves.
const LEFT_SHARE_MAX: f64 = 0.01;
/// Events come by chance, and what is in hand at a moment varies with them: more than so many standard deviations of it is no
/// chance any more.
const DEVIATIONS_MAX: f64 = 4.0;
/// So many steps in a row that were not kept end it: beyond the knee there is only more waiting.
const BEYOND: usize = 2;

/// From one rate to another, each step by the same factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    pub from_per_s: f64,
    pub to_per_s: f64,
    pub steps: u32,
}

impl std::str::FromStr for Ramp {
    type Err = String;

    /// `1000..20000`, or `1000..20000/12`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "use FROM..TO in events per second, or FROM..TO/STEPS (1000..20000/12)".to_owned();
        let (range, steps) = match text.split_once('/') {
            None => (text, STEPS),
            Some((range, steps)) => (range, steps.parse().map_err(|_| wanted())?),
        };
        let (from, to) = range.split_once("..").ok_or_else(wanted)?;
        let rate = |text: &str| text.parse::<f64>().ok().filter(|rate| (0.001..=10_000_000.0).contains(rate));
        let (from_per_s, to_per_s) = rate(from).zip(rate(to)).ok_or_else(wanted)?;
        if from_per_s >= to_per_s || !(2..=STEPS_MAX).contains(&steps) {
            return Err(format!(
                "{}; the first rate must be the smaller one, and steps must be 2 to {STEPS_MAX}",
                wanted()
            ));
        }
        Ok(Self { from_per_s, to_per_s, steps })
    }
}

impl Ramp {
    pub fn rates(self) -> impl Iterator<Item = f64> {
        let factor = (self.to_per_s / self.from_per_s).powf(1.0 / f64::from(self.steps - 1));
        (0..self.steps).map(move |step| self.from_per_s * factor.powf(f64::from(step)))
    }
}

/// Did as many events end as came (`None`: none were to come), but for those that are in hand at any moment? Where the server falls behind, what is in hand
/// grows, whether it waits for a connection or inside the server.
pub(super) fn keeps_up(report: &LoadReport) -> Option<bool> {
    let (asked, due) = report.rate_per_s.zip(report.due)?;
    let left = due as f64 - report.events as f64;
    // Little's law, with what an event takes when nobody waits.
    let in_hand = asked * report.latency_ms.p50.unwrap_or(0.0) / 1000.0;
    let in_hand = in_hand.min(due as f64 * LEFT_SHARE_MAX);
    Some(report.is_complete && left <= due as f64 * LEFT_SHARE_MAX + DEVIATIONS_MAX * (in_hand + 1.0).sqrt())
}

fn has_kept_up(report: &LoadReport) -> bool {
    report.kept_up == Some(true)
}

/// One measurement a rate, until the ramp is over, or two in a row are not kept, or it is ended.
///
/// # Errors
/// When the first of them could not be begun. What ended it later comes back beside what was measured until then.
pub fn run(
    targets: &[ConnectOptions],
    wish: &Load,
    ramp: Ramp,
    stop: &AtomicBool,
    each: &mut dyn FnMut(&LoadReport),
) -> Result<(Vec<LoadReport>, Option<OpsError>), OpsError> {
    let mut reports: Vec<LoadReport> = Vec::new();
    for rate in ramp.rates() {
        let step = Load {
            rate_per_s: Some(rate),
            seed: wish.seed.wrapping_add(reports.len() as u64),
            ..wish.clone()
        };
        let report = match load(targets, &step, stop, &mut |_| {}) {
            Ok(report) => report,
            Err(error) if reports.is_empty() => return Err(error),
            Err(error) => return Ok((reports, Some(error))),
        };
        each(&report);
        reports.push(report);
        let is_beyond = reports.len() >= BEYOND && !reports.iter().rev().take(BEYOND).any(has_kept_up);
        if is_beyond || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok((reports, None))
}

/// The highest rate that was kept before the first that was not, and that one. A step that broke off says nothing.
pub fn knee(reports: &[LoadReport]) -> (Option<f64>, Option<f64>) {
    let whole: Vec<&LoadReport> = reports.iter().take_while(|report| report.is_complete).collect();
    let first_missed = whole.iter().position(|report| !has_kept_up(report));
    let kept = whole.get(..first_missed.unwrap_or(whole.len())).unwrap_or_default().last();
    let missed = first_missed.and_then(|at| whole.get(at));
    (kept.and_then(|report| report.rate_per_s), missed.and_then(|report| report.rate_per_s))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Of ten seconds.
    fn report(asked: u32, events: u64, p50_ms: f64) -> LoadReport {
        let sample = include_str!("../../report/testdata/bench-load.json");
        let sample: LoadReport = serde_json::from_str(sample).unwrap();
        let latency_ms = report::shape::LatencyRow { p50: Some(p50_ms), ..sample.latency_ms.clone() };
        let mut report = LoadReport {
            rate_per_s: Some(f64::from(asked)),
            due: Some(u64::from(asked) * 10),
            events,
            measured_s: 10.0,
            is_complete: true,
            latency_ms,
            ..sample
        };
        report.kept_up = keeps_up(&report);
        report
    }

    #[test]
    fn a_ramp_rises_by_the_same_factor() {
        let ramp: Ramp = "1000..8000/4".parse().unwrap();
        let rates: Vec<f64> = ramp.rates().map(f64::round).collect();
        assert_eq!(rates, [1000.0, 2000.0, 4000.0, 8000.0]);
        assert_eq!("1..2".parse::<Ramp>().unwrap().steps, STEPS);
        for bad in ["", "5", "5..1", "1..5/1", "1..5/99", "a..b", "0..5", "1..inf"] {
            assert!(bad.parse::<Ramp>().is_err(), "{bad}");
        }
    }

    #[test]
    fn chance_is_not_taken_for_a_server_that_falls_behind() {
        // 1,000 a second for ten seconds: 100 may be left, and some by chance.
        assert!(has_kept_up(&report(1000, 9900, 1.0)));
        assert!(!has_kept_up(&report(1000, 9850, 1.0)));
        // 58 a second of which 49 are done, with a connection for each: nobody is late, and it falls behind all the same.
        assert!(!has_kept_up(&report(58, 490, 1500.0)));
        // A slow server with few events in hand.
        assert!(has_kept_up(&report(40, 395, 25.0)));
        let broken = LoadReport { is_complete: false, ..report(1000, 10_000, 1.0) };
        assert_eq!(keeps_up(&broken), Some(false));
        let closed = LoadReport { rate_per_s: None, ..broken };
        assert_eq!(keeps_up(&closed), None);
    }

    #[test]
    fn the_knee_is_between_the_last_that_was_kept_and_the_first_that_was_not() {
        let kept = |rate: u32| report(rate, u64::from(rate) * 10, 1.0);
        let missed = |rate: u32| report(rate, u64::from(rate) * 5, 1.0);
        assert_eq!(knee(&[kept(10), kept(20), missed(40), missed(80)]), (Some(20.0), Some(40.0)));
        assert_eq!(knee(&[kept(10), kept(20)]), (Some(20.0), None));
        assert_eq!(knee(&[missed(10)]), (None, Some(10.0)));
        assert_eq!(knee(&[]), (None, None));
        let cut = LoadReport { is_complete: false, ..missed(40) };
        assert_eq!(knee(&[kept(10), cut]), (Some(10.0), None));
    }
}

//! Certificates begin by this machine's clock, and count by the clocks of the servers.

use model::{NodeName, Verb};
use server::NodeView;
use trust::CLOCK_SKEW_S;

use super::{Problem, Seen, problem};
use crate::world::World;

/// A server that is nearer to the limit is too near: views are a few seconds old, and clocks drift.
const SPARE_S: i64 = 60;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if seen.change.verb == Verb::Disable {
        return Vec::new();
    }
    let now_unix_ms = world.clock.unix_ms();
    seen.up().filter_map(|(name, view)| behind(name, view, now_unix_ms)).collect()
}

/// Why a certificate that is made now would not be valid yet on that server. A server that does not tell its time is none of that.
pub fn behind(name: &NodeName, view: &NodeView, now_unix_ms: u64) -> Option<Problem> {
    let ms = |unix_ms: u64| i64::try_from(unix_ms).unwrap_or(i64::MAX);
    let behind_s = (ms(now_unix_ms) - ms(view.server_unix_ms?)) / 1000;
    (behind_s > CLOCK_SKEW_S - SPARE_S).then(|| {
        problem(
            name,
            format!("its clock is {behind_s} s behind this machine's"),
            format!(
                "certificates are made with this machine's clock and begin {CLOCK_SKEW_S} s earlier: on that server they would not be \
                 valid yet, and it could not join its cluster again"
            ),
            "set the clocks (timedatectl, chronyc tracking), then try again",
        )
    })
}

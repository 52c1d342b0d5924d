//! Waiting for sessions to leave a node that was taken out of service.

use std::time::Duration;

use change::StepError;
use model::{NodeName, Step};
use server::Hook;

use crate::proxies;
use crate::world::World;

/// Runs the inventory's program for it, if there is one.
pub fn hook(world: &mut World<'_>, name: &NodeName, step: &Step, is_drain: bool) -> Result<(), StepError> {
    let change = world.plan_id.clone();
    let hook = Hook { is_drain, change: &change, step: &step.id.0 };
    world.node(name)?.hook(&hook).map_err(|error| StepError(error.to_string()))
}

/// Between two looks at who is connected.
const POLL_MS: u64 = 100;

/// Waits until nobody works on a node any more that was taken out of service. `sign`: what health checks see of it since.
///
/// # Errors
/// Work is still under way after the upper bounds of [`crate::Limits`].
pub fn drained(world: &mut World<'_>, name: &NodeName, sign: &str) -> Result<String, StepError> {
    let limits = world.limits;
    let began = world.node(name)?.now_ms();
    loop {
        let node = world.node(name)?;
        let took = node.now_ms() - began;
        let seen = node.sessions().map_err(|error| StepError(error.to_string()))?;
        // One that a proxy has accepted may not have reached the server yet.
        if took >= limits.drain_ms_min && seen.users == 0 && proxies::sessions(world, name)? == 0 {
            return Ok(format!("drained in {took} ms"));
        }
        if took >= limits.drain_ms_max && seen.busy == 0 {
            return Ok(format!(
                "{} did not leave within {took} ms and will be cut; none had a statement or a transaction open when last asked",
                model::text::counted(seen.users, "session", "sessions")
            ));
        }
        if took >= limits.drain_ms_max + limits.drain_more_ms_max {
            return Err(StepError(format!(
                "{name} could not be drained\n  why:  {} work under way after {} s, though {sign}\n  next: take it out of the proxy by hand (or set `drain` in \
                 the inventory), then sealion resume",
                model::text::counted(seen.busy, "session still has", "sessions still have"),
                took / 1000
            )));
        }
        world.node(name)?.wait(Duration::from_millis(POLL_MS));
    }
}

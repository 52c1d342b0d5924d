//! One node is restarted, drained, since a running provider never forgets a CA that it has once loaded; then a leaf of the old CA must
//! be refused.
//!
//! # Source
//! Seen on Galera 26.4.23: `socket.ssl_reload` adds the CAs of the file to those that it has. A leaf of a CA that was taken out of
//! the file was still taken, and refused with "unknown ca" after a restart.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use server::{GaleraFacts, NodeError};

use super::round::{self, RoundParams};
use crate::galera::wait;
use crate::rollover;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct Distrust;
pub const DISTRUST: Distrust = Distrust;

#[derive(Debug, Serialize, Deserialize)]
pub struct DistrustParams {
    pub old_sha256: String,
    /// What the restart leaves as it is.
    pub round: RoundParams,
}

impl StepKind for Distrust {
    fn kind(&self) -> &'static str {
        "distrust"
    }

    /// Going back, the CA file is changed by other steps, and what a running server trusts besides harms nobody.
    fn stays(&self) -> bool {
        true
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let DistrustParams { old_sha256, round } = params(step)?;
        let name = only_node(step)?;
        if direction == Direction::Back {
            return round::unless_drained(world, &name, "nothing to take back");
        }
        // What is down is started, and has forgotten it then.
        if let Ok(view) = world.node(&name)?.view()
            && let Ok(note) = rollover::refuses_old(world, &name, &old_sha256)?
            && view.is_synced()
        {
            return round::unless_drained(world, &name, &note);
        }
        round::may_restart(world, &name, &round, direction)
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let DistrustParams { old_sha256, round } = params(step)?;
        let name = only_node(step)?;
        if direction == Direction::Back {
            return round::serves_on(world, &name, step);
        }
        let view = world.node(&name)?.view();
        match &view {
            Ok(view) => {
                if rollover::refuses_old(world, &name, &old_sha256)?.is_ok() {
                    // Killed after the start: the process runs with what is wished already.
                    return round::back_in_service(world, &name, step);
                }
                round::drained_and_stopped(world, &name, step, &round, direction, view)?;
            }
            Err(NodeError::Down { .. }) => {}
            Err(NodeError::Silent { .. }) => round::stopped_though_silent(world, &name, &round)?,
            Err(error) => return Err(fail(error)),
        }
        round::started_again(world, &name, step, &round, direction)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let DistrustParams { old_sha256, .. } = params(step)?;
        let name = only_node(step)?;
        if direction == Direction::Back {
            return Ok("nothing to take back".into());
        }
        wait::synced(world, &name)?;
        round::settled_as_one(world, &name)?;
        rollover::refuses_old(world, &name, &old_sha256)?.map_err(fail)
    }
}

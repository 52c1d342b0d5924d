//! On the operator's machine: who signs from now on.

use change::{Direction, StepCheck, StepError};
use model::Step;

use super::{StepKind, fail, params};
use crate::rollover::{self, RolloverParams};
use crate::world::World;

pub struct AuthorityTurn;
pub const AUTHORITY_TURN: AuthorityTurn = AuthorityTurn;

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "the new CA signs",
        Direction::Back => "the old CA signs",
    }
}

fn is_so(world: &World<'_>, step: &Step, direction: Direction) -> Result<bool, StepError> {
    let RolloverParams { old_sha256 } = params(step)?;
    let rollover = rollover::of(world, &old_sha256);
    match direction {
        Direction::Forward => rollover.is_turned(),
        Direction::Back => rollover.is_back(),
    }
    .map_err(fail)
}

impl StepKind for AuthorityTurn {
    fn kind(&self) -> &'static str {
        "authority-turn"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        Ok(if is_so(world, step, direction)? {
            StepCheck::AlreadyDone(word(direction).into())
        } else {
            StepCheck::Ready
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let RolloverParams { old_sha256 } = params(step)?;
        let rollover = rollover::of(world, &old_sha256);
        match direction {
            Direction::Forward => rollover.turn(),
            Direction::Back => rollover.turn_back(),
        }
        .map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        if !is_so(world, step, direction)? {
            return Err(fail(format!("{} still has the other CA", world.authority.dir.display())));
        }
        trust::Ca::open(&world.authority.dir, &world.authority.passphrase).map_err(fail)?;
        Ok(word(direction).into())
    }
}

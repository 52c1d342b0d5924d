//! New keys, as a sealed copy on the operator's machine and nowhere else. It is opened again before the step is done.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};

use crate::rest::keys;
use crate::steps::{StepKind, fail, params};
use crate::world::World;

pub struct EscrowKeys;
pub const ESCROW_KEYS: EscrowKeys = EscrowKeys;

#[derive(Debug, Serialize, Deserialize)]
pub struct EscrowParams {
    /// The name of the copy.
    pub entry: String,
}

impl StepKind for EscrowKeys {
    fn kind(&self) -> &'static str {
        "escrow-keys"
    }

    /// A backup of this time may need them.
    fn stays(&self) -> bool {
        true
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let EscrowParams { entry } = params(step)?;
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone(format!("the copy {entry} stays: a backup may need it")));
        }
        Ok(match world.escrow.get(&entry).map_err(fail)? {
            None => StepCheck::Ready,
            Some(_) if step.no_op => StepCheck::AlreadyDone(format!("{entry} opens")),
            Some(keys) if keys.plan_id == world.plan_id => {
                StepCheck::AlreadyDone(format!("{entry} was made by this change, and opens"))
            }
            Some(keys) => StepCheck::Blocked(format!(
                "the escrow has a copy {entry} already\n  why:  the change {} of {} made it\n  next: sealion abandon, then plan again",
                keys.plan_id, keys.cluster
            )),
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let EscrowParams { entry } = params(step)?;
        if direction == Direction::Back {
            return Ok(());
        }
        let made_unix_ms = world.clock.unix_ms();
        let keys = keys::generate(&world.cluster, &world.plan_id, made_unix_ms)?;
        world.escrow.put(&entry, &keys).map(|_| ()).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let EscrowParams { entry } = params(step)?;
        if direction == Direction::Back {
            return Ok("the copy stays".into());
        }
        let missing = || fail(format!("the copy {entry} is not in {}", world.escrow.dir().display()));
        let keys = world.escrow.get(&entry).map_err(fail)?.ok_or_else(missing)?;
        let copy = world.escrow.copy(&entry).map_err(fail)?.ok_or_else(missing)?;
        Ok(format!(
            "{} opens and holds {} keys (SHA-256 {})",
            copy.path.display(),
            keys.keys.len(),
            copy.sha256.get(..12).unwrap_or(&copy.sha256)
        ))
    }
}

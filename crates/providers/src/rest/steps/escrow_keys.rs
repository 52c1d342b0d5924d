//! New keys, as a sealed copy on the operator's machine and nowhere else. It is opened again before the step is done.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};

use super::data_keys::opened;
use crate::rest::keys::{self, Origin};
use crate::steps::{StepKind, fail, params};
use crate::world::World;

pub struct EscrowKeys;
pub const ESCROW_KEYS: EscrowKeys = EscrowKeys;

#[derive(Debug, Serialize, Deserialize)]
pub struct EscrowParams {
    /// The name of the copy.
    pub entry: String,
    /// What of another copy goes into it; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
}

/// A copy that another one is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct From {
    pub entry: String,
    pub takes: Takes,
}

/// What is taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// All of it, beside a new key of this id.
    AllAnd(u32),
    /// The key `kept`, beside new ones of the ids `anew`.
    Only { kept: u32, anew: Vec<u32> },
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
        let EscrowParams { entry, .. } = params(step)?;
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
        let EscrowParams { entry, from } = params(step)?;
        if direction == Direction::Back {
            return Ok(());
        }
        let made_unix_ms = world.clock.unix_ms();
        let base = from.as_ref().map(|from| opened(world, &from.entry)).transpose()?;
        let of = Origin { cluster: &world.cluster, plan_id: &world.plan_id, made_unix_ms };
        let keys = match from.as_ref().zip(base) {
            None => keys::generate(&of)?,
            Some((from, base)) => match &from.takes {
                Takes::AllAnd(id) => keys::with_new_key(&base, *id, &of)?,
                Takes::Only { kept, anew } => keys::with_only(&base, *kept, anew, &of)?,
            },
        };
        world.escrow.put(&entry, &keys).map(|_| ()).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let EscrowParams { entry, .. } = params(step)?;
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

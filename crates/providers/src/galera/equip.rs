//! Gives a node that has not been started yet what a sealed cluster expects of it, as the first two steps of a join do: for a demo,
//! which starts it itself.

use change::StepError;
use model::NodeName;
use server::Alive;

use super::join::{self, Members};
use crate::files::{issue, place};
use crate::steps::fail;
use crate::world::World;

/// Everything for `name`, which must be down. Idempotent.
pub fn equip(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    match world.node(name)?.alive() {
        Alive::No => {}
        Alive::Yes => {
            return Err(StepError(format!("{name} runs; a running node is changed by `sealion enable`")));
        }
        Alive::CannotTell(why) => {
            return Err(StepError(format!("whether {name} runs cannot be determined: {why}")));
        }
    }
    let members = Members::of(name, &world.views()).ok_or_else(|| fail("no member answers"))?;
    let (leaf, ca_pem) = issue(world, name)?;
    place(world.node(name)?, &leaf, &ca_pem)?;
    let mut draft = join::draft(world, name).map_err(fail)?;
    let edits = join::edits(world, name, &members, &draft).map_err(fail)?;
    let planned = draft.edit(edits).map_err(fail)?;
    planned.edit.apply(world.node(name)?).map_err(StepError).map(drop)
}

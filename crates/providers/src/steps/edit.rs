//! Edits an option file that is read without a restart: SST scripts read `[sst]` at the moment of each transfer.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};

use super::{StepKind, fail, only_node, params};
use crate::edit::{Edit, FileEdit, FileStand};
use crate::world::World;

pub struct EditStep;
pub const EDIT: EditStep = EditStep;

#[derive(Debug, Serialize, Deserialize)]
pub struct EditParams {
    pub edit: FileEdit,
}

impl StepKind for EditStep {
    fn kind(&self) -> &'static str {
        "edit"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let EditParams { edit } = params(step)?;
        let node = world.node(&only_node(step)?)?;
        Ok(match edit.stand(node).map_err(StepError)? {
            FileStand::Foreign => StepCheck::Blocked(edit.foreign(node)),
            stand if stand.is_so(direction) => StepCheck::AlreadyDone("the file is so already".into()),
            _ => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let EditParams { edit } = params(step)?;
        super::write(world, &only_node(step)?, &edit, direction)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let EditParams { edit } = params(step)?;
        let node = world.node(&only_node(step)?)?;
        if direction == Direction::Back {
            return Ok("as it was".into());
        }
        // What counts is what will be read, after all includes, not what we wrote.
        let (server, sst) = (node.effective().map_err(fail)?, node.effective_sst().map_err(fail)?);
        let mut is_of_server = false;
        for one in &edit.edits {
            let Edit::Set { group, key, value } = one else { continue };
            let all = if group == "sst" { &sst } else { &server };
            is_of_server |= group != "sst";
            let seen = all.effective(&key.replace('-', "_")).and_then(|setting| setting.value.as_deref());
            if seen != Some(value) {
                return Err(fail(format!(
                    "[{group}] {key} is {} although it was just written: another file wins",
                    seen.unwrap_or("not set")
                )));
            }
        }
        let reader = if is_of_server { "the server and the SST scripts" } else { "the SST scripts" };
        Ok(format!("{reader} will read it"))
    }
}

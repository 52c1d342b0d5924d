//! How long one node waits for members that it does not hear: see [`crate::galera::patience`]. Its option file and the running server, which
//! is not restarted.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use server::{GaleraFacts, NodeView, ProviderOptions};

use crate::edit::{FileEdit, FileStand};
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct Patience;
pub const PATIENCE: Patience = Patience;

#[derive(Debug, Serialize, Deserialize)]
pub struct PatienceParams {
    pub edit: FileEdit,
    /// Provider options of the running server before and after.
    pub before: String,
    pub after: String,
}

impl PatienceParams {
    fn wanted(&self, direction: Direction) -> &str {
        match direction {
            Direction::Forward => &self.after,
            Direction::Back => &self.before,
        }
    }

    fn is_so(&self, view: &NodeView, direction: Direction) -> bool {
        let live = view.provider_options();
        ProviderOptions::parse(self.wanted(direction)).iter().all(|(key, value)| live.get(key) == Some(value))
    }
}

impl StepKind for Patience {
    fn kind(&self) -> &'static str {
        "patience"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let patience: PatienceParams = params(step)?;
        let name = only_node(step)?;
        let node = world.node(&name)?;
        let stand = patience.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(patience.edit.foreign(node)));
        }
        let is_so = match node.view() {
            Ok(view) => patience.is_so(&view, direction),
            // It starts with what its file says.
            Err(error) if error.is_down() => true,
            Err(error) => return Err(fail(error)),
        };
        Ok(if is_so && stand.is_so(direction) {
            StepCheck::AlreadyDone(patience.wanted(direction).replace(';', ", "))
        } else {
            StepCheck::Ready
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let patience: PatienceParams = params(step)?;
        let name = only_node(step)?;
        crate::steps::write(world, &name, &patience.edit, direction)?;
        let node = world.node(&name)?;
        match node.view() {
            Ok(_) => node.set_provider_options(patience.wanted(direction)).map_err(fail),
            Err(error) if error.is_down() => Ok(()),
            Err(error) => Err(fail(error)),
        }
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let patience: PatienceParams = params(step)?;
        let name = only_node(step)?;
        let wanted = patience.wanted(direction).replace(';', ", ");
        match world.node(&name)?.view() {
            Ok(view) if patience.is_so(&view, direction) => Ok(wanted),
            Ok(_) => Err(fail(format!("{name} was told {wanted}, and does not have it"))),
            Err(error) if error.is_down() => {
                Ok(format!("{name} is down, and starts with what its file says"))
            }
            Err(error) => Err(fail(error)),
        }
    }
}

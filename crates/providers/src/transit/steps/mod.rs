//! One kind of step a file; [`STEPS`] is the register.

mod authority;
mod clients_gate;
mod edit;
pub mod files;
mod gate;
mod prove;
mod require;
mod retire;
mod rotate;
mod round;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::de::DeserializeOwned;

use super::world::Transit;

pub use authority::AuthorityParams;
pub use edit::EditParams;
pub use gate::GateParams;
pub use prove::ProveParams;
pub use require::RequireParams;
pub use rotate::RotateParams;
pub use round::RoundParams;

/// What a kind of step does. Idempotent: an action may be asked for again after a kill.
pub trait StepKind: Sync {
    fn kind(&self) -> &'static str;
    fn check(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError>;
    fn act(&self, transit: &mut Transit<'_>, step: &Step, direction: Direction) -> Result<(), StepError>;
    /// Over new connections; says what was seen.
    fn verify(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<String, StepError>;
}

pub const STEPS: &[&dyn StepKind] = &[
    &authority::AUTHORITY,
    &files::FILES,
    &edit::EDIT,
    &round::ROUND,
    &gate::GATE,
    &clients_gate::CLIENTS_GATE,
    &require::REQUIRE,
    &prove::PROVE,
    &retire::RETIRE,
    &rotate::ROTATE,
];

pub fn of(step: &Step) -> Result<&'static dyn StepKind, StepError> {
    STEPS.iter().copied().find(|kind| kind.kind() == step.kind).ok_or_else(|| {
        StepError(format!(
            "step {} is of the kind \"{}\", which this sealion does not know: use the version that made the plan",
            step.id, step.kind
        ))
    })
}

fn params<T: DeserializeOwned>(step: &Step) -> Result<T, StepError> {
    serde_json::from_value(step.params.clone())
        .map_err(|error| StepError(format!("the parameters of step {} are damaged: {error}", step.id)))
}

fn only_node(step: &Step) -> Result<NodeName, StepError> {
    step.nodes.first().cloned().ok_or_else(|| StepError(format!("step {} names no node", step.id)))
}

/// Any error with a text becomes a step's failure.
fn fail(error: impl std::fmt::Display) -> StepError {
    StepError(error.to_string())
}

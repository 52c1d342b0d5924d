//! Between two rounds: every member must be in the same state, seen by asking all of them.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};

use server::GaleraFacts;

use crate::galera::linked::{Linked, linked};
use crate::galera::quorum;
use crate::steps::{StepKind, params};
use crate::world::World;

pub struct Gate;
pub const GATE: Gate = Gate;

#[derive(Debug, Serialize, Deserialize)]
pub struct GateParams {
    /// The states that may be seen, of `P`, `D`, `S`.
    pub all: String,
}

fn problems(world: &mut World<'_>, all: &str) -> Vec<String> {
    let views = world.views();
    let arbitrators = world.arbitrator_views();
    let mut problems = quorum::against_arbitrators(&arbitrators, all);
    let wished = views.len() + arbitrators.len();
    for (name, view) in &views {
        match view {
            Err(error) => problems.push(error.first_line()),
            Ok(view) => {
                if !all.contains(view.galera_state().letter()) {
                    problems.push(format!("{name} speaks {}", view.galera_state()));
                }
                if view.cluster_size() != wished {
                    problems
                        .push(format!("{name} sees {} members, {wished} were asked", view.cluster_size()));
                }
            }
        }
    }
    problems
}

/// The nodes tell how many members there are and not which: another garbd may be counted in the place of one that the inventory has,
/// and speak whatever it likes.
fn uncounted(world: &mut World<'_>) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut unseen) = (Vec::new(), Vec::new());
    let names: Vec<NodeName> = world.arbitrators.iter().map(|one| one.name().clone()).collect();
    for name in names {
        match linked(world, &name) {
            Linked::Yes(_) => {}
            Linked::No => problems.push(format!(
                "{name} is connected with no member, and the nodes count as many as were asked: another garbd, which the inventory does not \
                 have, is one of them"
            )),
            Linked::CannotTell(why) => {
                unseen.push(format!("that {name} is one of them was not seen: {why}"));
            }
        }
    }
    (problems, unseen)
}

impl StepKind for Gate {
    fn kind(&self) -> &'static str {
        "gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let GateParams { all } = params(step)?;
        let mut problems = problems(world, &all);
        let mut unseen = Vec::new();
        if problems.is_empty() {
            (problems, unseen) = uncounted(world);
        }
        Ok(match direction {
            _ if problems.is_empty() => {
                let agree = format!("all {} members agree", world.members());
                StepCheck::AlreadyDone([vec![agree], unseen].concat().join("; "))
            }
            // Going back, the steps that follow are undone already; the round's own pre-check guards each restart.
            Direction::Back => StepCheck::AlreadyDone("nothing to revert".into()),
            Direction::Forward => StepCheck::Blocked(format!(
                "the next round may not begin\n  why:  {}\n  next: fix that, then sealion resume",
                problems.join("\n        ")
            )),
        })
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("checked".into())
    }
}

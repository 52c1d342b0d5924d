//! How long one node waits for members that it does not hear: see [`crate::galera::patience`]. Its option file and the running server, which
//! is not restarted.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{GaleraFacts, NodeView, ProviderOptions};

use crate::edit::{FileEdit, FileStand};
use crate::galera::OPTIONS;
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

/// What differs from these options in the running server.
fn differing(view: &NodeView, wanted: &str) -> Vec<String> {
    let live = view.provider_options();
    let wanted = ProviderOptions::parse(wanted);
    let differs = wanted.iter().filter(|(key, value)| live.get(key) != Some(value));
    differs
        .map(|(key, value)| format!("{key} is {}, not {value}", live.get(key).unwrap_or("not set")))
        .collect()
}

impl StepKind for Patience {
    fn kind(&self) -> &'static str {
        "patience"
    }

    /// Of each node the step that ends it is asked, which knows how it was.
    fn left(&self, world: &mut World<'_>, step: &Step) -> Option<String> {
        let patience: PatienceParams = params(step).ok()?;
        if crate::galera::patience::is_meanwhile(&patience.after) {
            return None;
        }
        let name = only_node(step).ok()?;
        let node = world.node(&name).ok()?;
        let in_file = match node.effective() {
            Ok(effective) => {
                let text = effective.effective(OPTIONS).and_then(|setting| setting.value.clone());
                let has = ProviderOptions::parse(&text.unwrap_or_default());
                let after = ProviderOptions::parse(&patience.after);
                let is_left = |key: &str, value: &str| {
                    crate::galera::patience::is_meanwhile(&format!("{key}={value}"))
                        && after.get(key).is_some_and(|wanted| wanted != value)
                };
                has.iter().any(|(key, value)| is_left(key, value))
            }
            // Nobody can say that it is not.
            Err(_) => true,
        };
        let live = match node.view() {
            Ok(view) => differing(&view, &patience.after),
            Err(error) => vec![format!("its timeouts are not known: {}", error.first_line())],
        };
        if live.is_empty() && !in_file {
            return None;
        }
        let why = if live.is_empty() { "its option file has these timeouts".into() } else { live.join(", ") };
        Some(format!(
            "{name}: it suspects silent members later than before ({why}), and members that do not wait equally long harm each other; to put it back, there: \
             SET GLOBAL wsrep_provider_options='{}', and the same in wsrep_provider_options of {} (what is Galera's own need not be there); or a new plan, \
             which puts it back at its end",
            patience.after,
            patience.edit.file.display()
        ))
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

/// Before members become dynamic, and again after an interruption: all of them wait equally long, as long as one of them is dynamic.
pub struct PatienceGate;
pub const PATIENCE_GATE: PatienceGate = PatienceGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct PatienceGateParams {
    /// Each node's provider options meanwhile.
    pub waits: Vec<(NodeName, String)>,
    /// Once all members are in this state, nobody is dynamic any more.
    pub settled: char,
}

impl StepKind for PatienceGate {
    fn kind(&self) -> &'static str {
        "patience-gate"
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
        let gate: PatienceGateParams = params(step)?;
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("nothing to revert".into()));
        }
        let views = world.views();
        let is_settled = |view: &NodeView| view.galera_state().letter() == gate.settled;
        if views.iter().all(|(_, view)| view.as_ref().is_ok_and(is_settled)) {
            return Ok(StepCheck::AlreadyDone("no member is dynamic any more".into()));
        }
        let (mut why, mut next) = (Vec::new(), Vec::new());
        for (name, wanted) in &gate.waits {
            match views.iter().find(|(other, _)| other == name).map(|(_, view)| view) {
                Some(Ok(view)) => {
                    let differing = differing(view, wanted);
                    if !differing.is_empty() {
                        why.push(format!("{name}: {}", differing.join(", ")));
                        next.push(format!("on {name}: SET GLOBAL wsrep_provider_options='{wanted}'"));
                    }
                }
                // It starts with what its file says.
                Some(Err(error)) if error.is_down() => {}
                Some(Err(error)) => why.push(error.first_line()),
                None => why.push(format!("{name} is not in the inventory any more")),
            }
        }
        if why.is_empty() {
            return Ok(StepCheck::AlreadyDone("all members wait equally long".into()));
        }
        next.push("then sealion resume, or sealion undo".into());
        Ok(StepCheck::Blocked(format!(
            "members do not wait equally long for a silent one\n  why:  {}; while some are dynamic, that may leave nobody Primary\n  next: {}",
            why.join("\n        "),
            next.join("\n        ")
        )))
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("checked".into())
    }
}

//! Between the phases of a rollover: a member that is behind the others would be shut out by what comes next, or shut others out.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::Admits;

use super::{StepKind, fail, params};
use crate::rollover::{self, Which};
use crate::world::World;

pub struct TrustGate;
pub const TRUST_GATE: TrustGate = TrustGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct TrustGateParams {
    pub old_sha256: String,
    pub asks: Asks,
}

/// What each member must do, on the way forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asks {
    /// It takes leaves of the new CA.
    Takes,
    /// It shows one of the new CA.
    Shows,
    /// It refuses those of the old CA.
    Refuses,
}

/// What [`problem`] has found of everybody.
fn seen_of(gate: &TrustGateParams, direction: Direction) -> &'static str {
    match (gate.asks, direction) {
        (Asks::Takes, Direction::Forward) => "take certificates of the new CA",
        (Asks::Shows, Direction::Forward) => "show certificates of the new CA",
        (Asks::Refuses, Direction::Forward) => "refuse certificates of the old CA",
        (Asks::Takes, Direction::Back) => "show certificates of the old CA",
        (Asks::Shows, Direction::Back) => "take certificates of the old CA",
        (Asks::Refuses, Direction::Back) => "go back to the old CA next",
    }
}

/// Why one member is not as far; nothing, if it is.
fn problem(
    world: &mut World<'_>,
    name: &NodeName,
    gate: &TrustGateParams,
    direction: Direction,
) -> Result<Option<String>, StepError> {
    // Before leaves are replaced everybody must take those that come; before trust is taken away nobody may show one of that CA.
    let (serves, which) = match (direction, gate.asks) {
        (Direction::Forward, Asks::Refuses) => {
            return Ok(rollover::refuses_old(world, name, &gate.old_sha256)?.err());
        }
        (Direction::Back, Asks::Refuses) => return Ok(None),
        (Direction::Forward, asks) => (asks == Asks::Shows, Which::New),
        (Direction::Back, asks) => (asks == Asks::Takes, Which::Old),
    };
    let word = which.word();
    let ca_pem = rollover::pem(world, &gate.old_sha256, which)?;
    if serves {
        let topology = world.topology;
        let shown = topology.shows(world, name)?;
        let is_of_it = trust::chain_ok(shown.as_bytes(), ca_pem.as_bytes(), world.unix_s());
        return Ok(is_of_it.err().map(|error| {
            let why = error.to_string();
            format!(
                "{name} does not show a certificate of the {word} CA: {}",
                why.lines().next().unwrap_or("")
            )
        }));
    }
    if !super::trust::has(world, name, &ca_pem)? {
        return Ok(Some(format!(
            "the CA file of {name} does not have the {word} CA any more, so it would not come back after a restart"
        )));
    }
    if rollover::waits_for_leaf(world, name, &gate.old_sha256)? {
        return Ok(None);
    }
    Ok(match rollover::admits(world, name, &gate.old_sha256, which)? {
        Admits::Yes => None,
        Admits::No(alert) => Some(format!("{name} refuses certificates of the {word} CA: {alert}")),
    })
}

impl StepKind for TrustGate {
    fn kind(&self) -> &'static str {
        "trust-gate"
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
        let gate: TrustGateParams = params(step)?;
        let mut problems = Vec::new();
        for name in &step.nodes {
            match problem(world, name, &gate, direction) {
                Ok(found) => problems.extend(found),
                Err(error) => problems.push(format!("{name} cannot be asked: {}", fail(error).0)),
            }
        }
        Ok(if problems.is_empty() {
            StepCheck::AlreadyDone(format!("all {} members {}", step.nodes.len(), seen_of(&gate, direction)))
        } else {
            StepCheck::Blocked(format!(
                "the next phase may not begin\n  why:  {}\n  next: fix that, then sealion resume",
                problems.join("\n        ")
            ))
        })
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("checked".into())
    }
}

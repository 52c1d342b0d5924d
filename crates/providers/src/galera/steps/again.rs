//! A dynamic member is restarted among dynamic members, so that they forget the address under which strict ones had told of it: see
//! [`crate::galera::gossip`]. Nothing else of it changes.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{NodeError, WriteMember};

use super::arbitrator;
use super::round::{self, RoundParams};
use crate::galera::wait;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct Again;
pub const AGAIN: Again = Again;

#[derive(Debug, Serialize, Deserialize)]
pub struct AgainParams {
    /// It is done in an undo, where members leave TLS; else on the way forward.
    pub on_the_way_back: bool,
    /// What the restart leaves as it is; `None`: it is an arbitrator.
    pub round: Option<RoundParams>,
}

impl AgainParams {
    fn acts(&self, direction: Direction) -> bool {
        self.on_the_way_back == (direction == Direction::Back)
    }
}

const NOTE_BYTES_MAX: u64 = 4096;

/// Which process is to be replaced, by which step of which plan: whoever continues knows whether it was.
fn note_file(member: &dyn WriteMember) -> PathBuf {
    member.spec().state_dir.join("again")
}

fn process(member: &mut dyn WriteMember) -> Option<String> {
    member.process().map(|process| format!("{} {}", process.pid, process.start_ticks))
}

/// Whether the process that the step has found does not run any more.
fn is_done(world: &mut World<'_>, name: &NodeName, step: &Step) -> Result<bool, StepError> {
    let of = format!("{} {}\n", world.plan_id, step.id);
    let member = world.member(name)?;
    let Some(bytes) = member.host().read(&note_file(member), NOTE_BYTES_MAX).map_err(fail)? else {
        return Ok(false);
    };
    let text = String::from_utf8_lossy(&bytes);
    let before = text.strip_prefix(&of);
    Ok(before.is_some_and(|before| process(member).is_some_and(|now| now != before)))
}

fn note(world: &mut World<'_>, name: &NodeName, step: &Step) -> Result<(), StepError> {
    let of = format!("{} {}\n", world.plan_id, step.id);
    let member = world.member(name)?;
    let Some(process) = process(member) else { return Ok(()) };
    let (path, state_dir) = (note_file(member), member.spec().state_dir.clone());
    let host = member.write_host();
    host.make_dir(&state_dir, 0o700, None)
        .and_then(|()| host.write(&path, format!("{of}{process}").as_bytes(), Some(0o600), None))
        .map_err(fail)
}

fn forget(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let member = world.member(name)?;
    let path = note_file(member);
    if member.host().facts(&path).map_err(fail)?.is_some() {
        member.write_host().remove(&path).map_err(fail)?;
    }
    Ok(())
}

impl StepKind for Again {
    fn kind(&self) -> &'static str {
        "again"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let again: AgainParams = params(step)?;
        let name = only_node(step)?;
        if !again.acts(direction) {
            // Forward it is done, so that it has its turn on the way back.
            return match (&again.round, direction) {
                (_, Direction::Forward) => Ok(StepCheck::Ready),
                (Some(_), Direction::Back) => round::unless_drained(world, &name, "nothing to take back"),
                (None, Direction::Back) => Ok(StepCheck::AlreadyDone("nothing to take back".into())),
            };
        }
        if is_done(world, &name, step)? {
            return Ok(StepCheck::Ready);
        }
        match &again.round {
            Some(round) => round::may_restart(world, &name, round, direction),
            None => arbitrator::may_restart(world, &name, "PD", true),
        }
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let again: AgainParams = params(step)?;
        let name = only_node(step)?;
        let Some(round) = &again.round else {
            if !again.acts(direction) {
                return Ok(());
            }
            if is_done(world, &name, step)? {
                return arbitrator::is_counted(world, &name, arbitrator::SURE_MS);
            }
            // A node may have failed since the pre-check.
            let reasons = arbitrator::reasons_against(world, &name, "PD")?;
            if !reasons.is_empty() {
                return Err(fail(format!(
                    "{name} is not restarted\n  why:  {}\n  next: fix that, then sealion resume",
                    reasons.join("\n        ")
                )));
            }
            note(world, &name, step)?;
            return arbitrator::restart(world, &name);
        };
        if !again.acts(direction) {
            return round::serves_on(world, &name, step);
        }
        let view = world.node(&name)?.view();
        match &view {
            Ok(_) if is_done(world, &name, step)? => return round::back_in_service(world, &name, step),
            Ok(view) => {
                note(world, &name, step)?;
                round::drained_and_stopped(world, &name, step, round, direction, view)?;
            }
            Err(NodeError::Down { .. }) => {}
            Err(NodeError::Silent { .. }) => round::stopped_though_silent(world, &name, round)?,
            Err(error) => return Err(fail(error)),
        }
        round::started_again(world, &name, step, round, direction)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let again: AgainParams = params(step)?;
        let name = only_node(step)?;
        if !again.acts(direction) {
            return Ok(if again.on_the_way_back { "kept for an undo" } else { "nothing to take back" }.into());
        }
        match &again.round {
            Some(_) => {
                wait::synced(world, &name)?;
                round::settled_as_one(world, &name)?;
            }
            None => arbitrator::is_counted(world, &name, 0)?,
        }
        forget(world, &name)?;
        Ok("restarted among dynamic members, which have learned its address again".into())
    }
}

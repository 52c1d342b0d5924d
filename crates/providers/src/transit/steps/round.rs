//! One node of a round: the file, then drained, stopped, started, and back in the cluster.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{NodeView, WriteNode};

use super::{StepKind, fail, only_node, params};
use crate::transit::edit::{FileEdit, FileStand};
use crate::transit::world::Transit;
use crate::transit::{quorum, wait};

pub struct Round;
pub const ROUND: Round = Round;

#[derive(Debug, Serialize, Deserialize)]
pub struct RoundParams {
    pub edit: FileEdit,
    /// Galera states `P`, `D`, `S` of this node before and after.
    pub before: char,
    pub after: char,
    /// The client certificate's path; empty is none, `None` is not ours to say.
    pub ssl_cert_before: Option<String>,
    pub ssl_cert_after: Option<String>,
}

impl RoundParams {
    fn wanted(&self, direction: Direction) -> (char, Option<&str>) {
        match direction {
            Direction::Forward => (self.after, self.ssl_cert_after.as_deref()),
            Direction::Back => (self.before, self.ssl_cert_before.as_deref()),
        }
    }

    /// Why the running server is not as wished; `None` if it is.
    fn differs(&self, view: &NodeView, direction: Direction) -> Option<String> {
        let (letter, cert) = self.wanted(direction);
        let state = view.galera_state();
        if state.letter() != letter {
            return Some(format!("it speaks {state}, not {}", word(letter)));
        }
        let seen = view.variable("ssl_cert").unwrap_or("");
        match cert {
            Some(cert) if cert != seen => Some(format!("its ssl_cert is \"{seen}\", not \"{cert}\"")),
            _ => None,
        }
    }

    /// States that may stand beside the one that comes: a plain one never beside a strict one.
    fn allowed(&self) -> &'static str {
        if self.before == 'S' || self.after == 'S' { "DS" } else { "PD" }
    }
}

fn word(letter: char) -> &'static str {
    match letter {
        'P' => "plain",
        'D' => "dynamic",
        'S' => "strict",
        _ => "mixed up",
    }
}

/// Says that it was sealion who took the node out of service.
fn marker(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("drained")
}

fn ours(node: &dyn WriteNode) -> bool {
    node.host().facts(&marker(node)).is_ok_and(|facts| facts.is_some())
}

impl StepKind for Round {
    fn kind(&self) -> &'static str {
        "round"
    }

    fn check(&self, transit: &mut Transit<'_>, step: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        let node = transit.node(&name)?;
        let stand = round.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(round.edit.foreign(node)));
        }
        let file_is_so = match direction {
            Direction::Forward => matches!(stand, FileStand::After | FileStand::NoOp),
            Direction::Back => matches!(stand, FileStand::Before | FileStand::NoOp),
        };
        let is_ours = ours(node);
        let views = transit.views();
        let here = views.iter().find(|(other, _)| *other == name).and_then(|(_, view)| view.as_ref().ok());
        if let Some(view) = here
            && file_is_so
            && !is_ours
            && view.is_synced()
            && round.differs(view, direction).is_none()
        {
            return Ok(StepCheck::AlreadyDone(format!("runs {} already", word(round.wanted(direction).0))));
        }
        let reasons = quorum::may_stop(&name, &views, is_ours, round.allowed());
        if reasons.is_empty() {
            return Ok(StepCheck::Ready);
        }
        Ok(StepCheck::Blocked(format!(
            "{name} may not be restarted now\n  why:  {}\n  next: mend that, then sealion resume",
            reasons.join("\n        ")
        )))
    }

    fn act(&self, transit: &mut Transit<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        let members = members_wanted(transit);
        let node = transit.node(&name)?;
        match direction {
            Direction::Forward => round.edit.apply(node),
            Direction::Back => round.edit.revert(node),
        }
        .map_err(StepError)?;

        if let Ok(view) = node.view() {
            if round.differs(&view, direction).is_none() {
                // Killed after the start, or before the stop: the process runs with what is wished already.
                back_in_service(node)?;
                return wait::synced(transit, &name, members).map(|_| ());
            }
            let mark = marker(node);
            let host = node.write_host();
            host.make_dir(&node.spec().state_dir, 0o700, None)
                .and_then(|()| host.write(&mark, step.id.0.as_bytes(), Some(0o600), None))
                .map_err(fail)?;
            if view.desync_count() == 0 {
                node.set_desync(true).map_err(fail)?;
            }
            node.hook(true).map_err(fail)?;
            let note = wait::drained(transit, &name)?;
            transit.say(&format!("{name}: {note}"));
            transit.node(&name)?.stop().map_err(fail)?;
        } else if node.process().is_some() {
            // It runs and does not answer: starting or stopping. Only a stopped one is started anew.
            node.stop().map_err(fail)?;
        }
        let node = transit.node(&name)?;
        node.start().map_err(fail)?;
        wait::synced(transit, &name, members)?;
        back_in_service(transit.node(&name)?)
    }

    fn verify(&self, transit: &mut Transit<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        let members = members_wanted(transit);
        let view = wait::synced(transit, &name, members)?;
        if let Some(why) = round.differs(&view, direction) {
            return Err(fail(format!("{name} came back, but {why}")));
        }
        // Nobody else may have changed or left.
        for (other, view) in transit.views() {
            let view = view.map_err(fail)?;
            if !view.is_primary() || view.cluster_size() < members {
                return Err(fail(format!(
                    "{other} is in a {} component of {}",
                    view.cluster_status(),
                    view.cluster_size()
                )));
            }
        }
        Ok(format!("Synced, {}, cluster size {}", word(round.wanted(direction).0), view.cluster_size()))
    }
}

fn back_in_service(node: &mut dyn WriteNode) -> Result<(), StepError> {
    if node.view().is_ok_and(|view| view.desync_count() > 0) && ours(node) {
        node.set_desync(false).map_err(fail)?;
    }
    if ours(node) {
        node.hook(false).map_err(fail)?;
    }
    node.write_host().remove(&marker(node)).map_err(fail)
}

fn members_wanted(transit: &Transit<'_>) -> usize {
    transit.nodes.len()
}

/// Whether sealion has this node out of service, for messages.
pub fn is_drained(transit: &mut Transit<'_>, name: &NodeName) -> bool {
    transit.node(name).is_ok_and(|node| ours(node))
}

//! One node of a round: the file, then drained, stopped, started, and back in the cluster.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{NodeError, NodeView, WriteNode};

use super::{StepKind, fail, only_node, params};
use crate::transit::edit::{FileEdit, FileStand};
use crate::transit::world::{Transit, sleep};
use crate::transit::{quorum, wait};

/// So long the other nodes may take to be in step again before a restart is refused.
const SETTLE_MS_MAX: u64 = 15_000;
const SETTLE_POLL_MS: u64 = 500;

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

/// Why `name` may not be stopped now. Others are given a while to be in step again: a donor can be back a moment after
/// its joiner, and the answers of several nodes are never of one moment.
fn reasons_against(
    transit: &mut Transit<'_>,
    name: &NodeName,
    is_ours: bool,
    round: &RoundParams,
) -> Result<Vec<String>, StepError> {
    let began = transit.node(name)?.now_ms();
    loop {
        let views = transit.views();
        let is_down =
            views.iter().any(|(other, view)| other == name && view.as_ref().is_err_and(NodeError::is_down));
        let reasons = if is_down {
            let runs = transit.node(name)?.alive() != Some(false);
            quorum::may_start(name, &views, runs, round.allowed())
        } else {
            quorum::may_stop(name, &views, is_ours, round.allowed())
        };
        if reasons.is_empty() || transit.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Ok(reasons);
        }
        sleep(transit, SETTLE_POLL_MS);
    }
}

fn start_patiently(transit: &mut Transit<'_>, name: &NodeName) -> Result<(), StepError> {
    let mut starts = 0;
    loop {
        starts += 1;
        transit.node(name)?.start().map_err(fail)?;
        let Err(error) = wait::synced(transit, name) else { return Ok(()) };
        let passing = wait::passing_sign(transit.node(name)?).filter(|_| starts < wait::PASSING_STARTS_MAX);
        let Some(sign) = passing else { return Err(error) };
        transit.say(&wait::start_again(name, sign, starts + 1));
    }
}

impl StepKind for Round {
    fn kind(&self) -> &'static str {
        "round"
    }

    fn check(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
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
        if let Ok(view) = transit.node(&name)?.view()
            && round.differs(&view, direction).is_none()
        {
            return Ok(if file_is_so && !is_ours && view.is_synced() {
                StepCheck::AlreadyDone(format!("runs {} already", word(round.wanted(direction).0)))
            } else {
                // The file, or its place in service, is to be mended: nothing is stopped, so no quorum is needed.
                StepCheck::Ready
            });
        }
        let reasons = reasons_against(transit, &name, is_ours, &round)?;
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
        let node = transit.node(&name)?;
        match direction {
            Direction::Forward => round.edit.apply(node),
            Direction::Back => round.edit.revert(node),
        }
        .map_err(StepError)?;

        let view = node.view();
        if let Err(error) = &view
            && !error.is_down()
        {
            // It serves, and only we are not let in: it must not be stopped undrained.
            return Err(fail(error));
        }
        if let Ok(view) = view {
            if round.differs(&view, direction).is_none() {
                // Killed after the start, or before the stop: the process runs with what is wished already.
                back_in_service(node)?;
                return wait::synced(transit, &name).map(|_| ());
            }
            let mark = marker(node);
            let host = node.write_host();
            host.make_dir(&node.spec().state_dir, 0o700, None)
                .and_then(|()| host.write(&mark, step.id.0.as_bytes(), Some(0o600), None))
                .map_err(fail)?;
            // Not by wsrep_desync_count: a donor counts there too, and is in service again when it has served.
            if !is_desynced(&view) {
                node.set_desync(true).map_err(fail)?;
            }
            node.hook(true).map_err(fail)?;
            let note = wait::drained(transit, &name)?;
            transit.say(&format!("{name}: {note}"));
            // Draining takes its time: another node may have failed since the pre-check.
            let reasons = reasons_against(transit, &name, true, &round)?;
            if !reasons.is_empty() {
                return Err(fail(format!(
                    "{name} was drained and is not stopped\n  why:  {}\n  next: mend that, then sealion resume",
                    reasons.join("\n        ")
                )));
            }
            transit.node(&name)?.stop().map_err(fail)?;
        } else if node.process().is_some() || node.alive() == Some(true) {
            // It runs and does not answer: starting or stopping. Only a stopped one is started anew.
            node.stop().map_err(fail)?;
        }
        start_patiently(transit, &name)?;
        back_in_service(transit.node(&name)?)
    }

    fn verify(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<String, StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        let view = wait::synced(transit, &name)?;
        if let Some(why) = round.differs(&view, direction) {
            return Err(fail(format!("{name} came back, but {why}")));
        }
        // Nobody else may have changed or left.
        for (other, view) in transit.views() {
            let view = view.map_err(fail)?;
            if !view.is_primary() || view.cluster_size() < transit.nodes.len() {
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

fn is_desynced(view: &NodeView) -> bool {
    view.variable("wsrep_desync") == Some("ON")
}

fn back_in_service(node: &mut dyn WriteNode) -> Result<(), StepError> {
    if node.view().is_ok_and(|view| is_desynced(&view)) && ours(node) {
        node.set_desync(false).map_err(fail)?;
    }
    if ours(node) {
        node.hook(false).map_err(fail)?;
    }
    node.write_host().remove(&marker(node)).map_err(fail)
}

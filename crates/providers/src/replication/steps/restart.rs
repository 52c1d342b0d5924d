//! One server is restarted with another certificate, because it takes one at its start only.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{NodeError, NodeView};

use super::live_files::served_is_ours;
use crate::drain::hook;
use crate::edit::{FileEdit, FileStand};
use crate::replication::relay::{self, Action};
use crate::rest::stopped::{self, StoppedGate};
use crate::steps::{StepKind, fail, only_node, params};
use crate::threads;
use crate::tls_rules::{self, RulesChange};
use crate::variables::{self, VariableChange};
use crate::world::World;

pub struct Restart;
pub const RESTART: Restart = Restart;

const POLL_MS: u64 = 200;
/// A service that is not running for this long after a start has ended; managers take a moment to fork.
const GONE_MS_MAX: u64 = 3_000;
const LOG_LINES: usize = 100;

#[derive(Debug, Serialize, Deserialize)]
pub struct RestartParams {
    pub edit: FileEdit,
    /// Values of `ssl_cert` of the running server.
    pub before: String,
    pub after: String,
    /// The same of `ssl_ca`; `None` is not ours to say.
    #[serde(default)]
    pub ca_before: Option<String>,
    #[serde(default)]
    pub ca_after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesChange>,
    /// What else a server that was restarted shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableChange>,
    /// Keys of data at rest that go with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<StoppedGate>,
}

impl RestartParams {
    fn wanted(&self, direction: Direction) -> &str {
        if direction == Direction::Forward { &self.after } else { &self.before }
    }

    /// Why the running server is not as wished; `None` if it is.
    fn differs(&self, view: &NodeView, direction: Direction) -> Option<String> {
        let (found, wanted) = (ssl_cert(view), self.wanted(direction));
        if found != wanted {
            return Some(format!("its ssl_cert is \"{found}\", not \"{wanted}\""));
        }
        let ca = if direction == Direction::Forward { &self.ca_after } else { &self.ca_before };
        let found = view.variable("ssl_ca").unwrap_or("");
        if let Some(wanted) = ca.as_ref().filter(|ca| **ca != found) {
            return Some(format!("its ssl_ca is \"{found}\", not \"{wanted}\""));
        }
        tls_rules::differs(self.rules.as_ref(), view, direction)
            .or_else(|| variables::differs(&self.variables, view, direction))
    }
}

fn ssl_cert(view: &NodeView) -> &str {
    view.variable("ssl_cert").unwrap_or("")
}

impl StepKind for Restart {
    fn kind(&self) -> &'static str {
        "restart"
    }

    fn certificates(&self, step: &Step) -> Option<[String; 2]> {
        params(step).ok().map(|restart: RestartParams| [restart.before, restart.after])
    }

    fn client_cas(&self, step: &Step) -> Option<[String; 2]> {
        let restart: RestartParams = params(step).ok()?;
        Some([restart.ca_before?, restart.ca_after?])
    }

    fn rules(&self, step: &Step) -> Option<RulesChange> {
        params(step).ok().and_then(|one: RestartParams| one.rules)
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: RestartParams = params(step)?;
        let name = only_node(step)?;
        let node = world.node(&name)?;
        let stand = wish.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(wish.edit.foreign(node)));
        }
        match node.view() {
            Ok(view)
                if stand.is_so(direction)
                    && wish.differs(&view, direction).is_none()
                    && !threads::are_pending(world, &name)? =>
            {
                Ok(StepCheck::AlreadyDone("set so, in the file and live".into()))
            }
            Ok(view) if wish.differs(&view, direction).is_some() => Ok(match may_stop(world, &name) {
                Ok(()) => StepCheck::Ready,
                Err(why) => StepCheck::Blocked(why.0),
            }),
            Ok(_) | Err(NodeError::Down { .. }) => Ok(StepCheck::Ready),
            Err(error) => Ok(StepCheck::Blocked(error.to_string())),
        }
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: RestartParams = params(step)?;
        let name = only_node(step)?;
        stopped::keys_are_as_sealed(world, &name, wish.gate.as_ref(), direction, stopped::NOT_RESTARTED)?;
        let gate = wish.gate.as_ref().filter(|gate| gate.holds(direction));
        if stopped::is_to_be_started_first(world, &name, gate, &wish.edit, direction)? {
            stopped::started_either_way(world, &name, &wish.edit, direction, &|world, _| {
                start(world, &name)
            })?;
        }
        let mut passed = Ok(());
        match world.node(&name)?.view() {
            // Started by somebody else with what it is to have: the file follows what the server writes with already.
            Ok(view) if wish.differs(&view, direction).is_none() => {
                crate::steps::write(world, &name, &wish.edit, direction)?;
            }
            Ok(view) => {
                let ahead = stopped::ahead(world, &name, gate, &view)?;
                hook(world, &name, step, true)?;
                let told = quiet(world, &name)?;
                // It took its time: sources may have purged more, and replicas be behind by now.
                if let Err(why) = may_stop(world, &name) {
                    hook(world, &name, step, false)?;
                    return Err(why);
                }
                world.say(&told);
                world.notes.push(told);
                threads::note(world, &name)?;
                world.node(&name)?.stop().map_err(fail)?;
                if let Some(ahead) = &ahead {
                    passed = ahead.pass(world, &name, &wish.edit, direction);
                }
                start(world, &name)?;
                if let (Some(ahead), Ok(())) = (&ahead, &passed) {
                    passed = ahead.reads_as_before(world, &name);
                }
            }
            Err(NodeError::Down { .. }) => start(world, &name)?,
            Err(error) => return Err(fail(error)),
        }
        threads::start_again(world, &name)?;
        hook(world, &name, step, false)?;
        passed
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: RestartParams = params(step)?;
        let name = only_node(step)?;
        stopped::keys_are_as_sealed(world, &name, wish.gate.as_ref(), direction, stopped::KEYS_CHANGED)?;
        let view = world.node(&name)?.view().map_err(fail)?;
        if let Some(why) = wish.differs(&view, direction) {
            return Err(fail(format!("{name} was restarted and {why}")));
        }
        if !wish.variables.is_empty() {
            return Ok(variables::said(&wish.variables, &view));
        }
        let wanted = wish.wanted(direction);
        if view.offers_client_tls() == wanted.is_empty() {
            return Err(fail(format!(
                "{name} was restarted and have_ssl is {}",
                view.variable("have_ssl").unwrap_or("not known")
            )));
        }
        if wanted.is_empty() {
            return Ok("it offers no TLS".into());
        }
        let rules = tls_rules::wanted(wish.rules.as_ref(), direction);
        let rules = tls_rules::seen_from_outside(world, &name, rules)?;
        Ok(served_is_ours(world, step)? + &rules)
    }
}

/// Whether nothing is lost by a stop: of what it has received as a replica, nor of what its replicas have yet to receive.
fn may_stop(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    relay::hold(world, name, Action::Restart)?;
    relay::hold_source(world, name)
}

/// Waits for a moment in which nobody has a statement or a transaction open. A source always has work: at the end of the time it
/// is stopped all the same, and what was not acknowledged is rolled back.
fn quiet(world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
    let ms_max = world.limits.drain_ms_max;
    let node = world.node(name)?;
    let began = node.now_ms();
    loop {
        let seen = node.sessions().map_err(fail)?;
        if seen.busy == 0 {
            return Ok(format!(
                "{name} is stopped; {} cut",
                model::text::counted(
                    seen.users,
                    "session without work under way is",
                    "sessions without work under way are"
                )
            ));
        }
        if node.now_ms() - began >= ms_max {
            return Ok(format!(
                "{name} is stopped; {} had work under way, which is rolled back: an error to the client",
                model::text::counted(seen.busy, "session", "sessions")
            ));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

/// Starts it and waits until it answers.
pub fn start(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let ms_max = world.limits.sync_ms_max;
    let node = world.node(name)?;
    node.start().map_err(fail)?;
    let began = node.now_ms();
    let mut gone_since = None;
    loop {
        let why = match node.view() {
            Ok(_) => return Ok(()),
            Err(NodeError::Down { .. }) => {
                let since = *gone_since.get_or_insert(node.now_ms());
                if node.now_ms() - since > GONE_MS_MAX {
                    return Err(did_not_start(world, name, "its process has ended"));
                }
                "it is down".to_owned()
            }
            Err(error) => {
                gone_since = None;
                error.first_line()
            }
        };
        if node.now_ms() - began > ms_max {
            return Err(did_not_start(world, name, &why));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

fn did_not_start(world: &mut World<'_>, name: &NodeName, why: &str) -> StepError {
    let log = world.node(name).map(|node| node.log_tail(LOG_LINES)).unwrap_or_default();
    let errors: Vec<&str> = log.iter().map(String::as_str).filter(|line| line.contains("[ERROR]")).collect();
    let last = errors.get(errors.len().saturating_sub(3)..).unwrap_or_default().join("\n        ");
    StepError(format!(
        "{name} did not start again\n  why:  {why}; its log says:\n        {last}\n  next: sealion resume (tries again) or sealion undo (goes \
         back)"
    ))
}

//! Whether the commands that stop and start members can be run at all: a unit that systemd does not know, or a program that is not there,
//! would stop a change in its middle, with a server down.

use std::time::Duration;

use host::{HostError, ReadHost, Service};
use model::{NodeName, Plan};
use server::NodeSpec;

use super::{Problem, problem};
use crate::world::World;

/// A service manager that does not answer within this time is not asked again.
const ASK_MAX: Duration = Duration::from_secs(5);

/// What speaks against the plan, and what its reader is told.
pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let restarted: Vec<NodeName> = world
        .all_names()
        .into_iter()
        .filter(|name| {
            plan.steps.iter().any(|step| !step.no_op && step.restarts_server && step.nodes.contains(name))
        })
        .collect();
    let (mut problems, mut told) = (Vec::new(), Vec::new());
    for name in restarted {
        let Ok(member) = world.member(&name) else { continue };
        let (spec, host) = (member.spec(), member.host());
        for (key, found) in commands(spec).map(|(key, command)| (key, can_run(host, command))) {
            match found {
                Ok(None) => {}
                Ok(Some(fault)) => problems.push(problem(
                    &name,
                    format!("its `{key}` of the inventory cannot be run: {}", fault.what),
                    fault.why,
                    fault.next,
                )),
                Err(error) => told.push(format!(
                    "{name}: whether its `{key}` of the inventory can be run cannot be determined: {error}"
                )),
            }
        }
    }
    (problems, told)
}

enum Command<'s> {
    Unit(&'s str),
    Program(&'s str),
}

/// What a change runs on the machine of a member, by its key in the inventory.
fn commands(spec: &NodeSpec) -> impl Iterator<Item = (&'static str, Command<'_>)> {
    let of_service: Vec<(&'static str, Command<'_>)> = match &spec.service {
        Service::Systemd { unit } => vec![("service", Command::Unit(unit))],
        Service::Commands { start, stop, alive } => {
            let all = [("start", Some(start)), ("stop", Some(stop)), ("alive", alive.as_ref())];
            all.into_iter().filter_map(|(key, words)| Some((key, program(words)?))).collect()
        }
    };
    let hooks = [("drain", spec.drain.as_ref()), ("undrain", spec.undrain.as_ref())];
    let hooks = hooks.into_iter().filter_map(|(key, words)| Some((key, program(words)?)));
    of_service.into_iter().chain(hooks)
}

fn program(words: Option<&Vec<String>>) -> Option<Command<'_>> {
    words?.first().map(|word| Command::Program(word))
}

struct Fault {
    what: String,
    why: String,
    next: String,
}

/// # Errors
/// It cannot be told.
fn can_run(host: &dyn ReadHost, command: Command<'_>) -> Result<Option<Fault>, HostError> {
    match command {
        Command::Program(name) if host.program_of(name)?.is_none() => Ok(Some(Fault {
            what: format!("there is no program {name} on its machine"),
            why: "no file of that name that may be executed is there, or in the PATH of whoever is logged in there".into(),
            next: "correct the command in the inventory, or install the program".into(),
        })),
        Command::Program(_) => Ok(None),
        Command::Unit(unit) => Ok(match host.unit_load_state(unit, ASK_MAX)?.as_str() {
            "loaded" => None,
            // Source: systemctl(1), unit load states.
            state @ ("not-found" | "masked" | "bad-setting" | "error") => Some(Fault {
                what: format!("systemd does not start the unit {unit}"),
                why: format!("its LoadState is {state}"),
                next: if state == "not-found" {
                    "name the server's unit in the inventory (on its machine: systemctl list-units --type=service), or `start` and `stop` \
                     commands where it has none"
                        .into()
                } else {
                    format!("on its machine: systemctl status {unit}")
                },
            }),
            other => {
                return Err(HostError::Process {
                    what: format!("the LoadState of {unit}"),
                    why: format!("systemd says \"{other}\""),
                });
            }
        }),
    }
}

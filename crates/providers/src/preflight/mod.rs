//! Why a change may not be done, all reasons at once, before anything is touched. One check a file. Here are those that
//! several providers make; each topology has a register of its own, in the order in which reasons are shown.

pub mod address;
pub mod client_cas;
pub mod clocks;
pub mod command_line;
pub mod elsewhere;
pub mod group;
pub mod left_on;
pub mod managed;
pub mod place;
pub mod profile;
pub mod proxy_names;
pub mod rights;
pub mod service_commands;
pub mod services;
pub mod set_live;
pub mod tls_library;
pub mod trust_files;
pub mod verifiers;

use std::path::Path;

use model::{Change, NodeName};
use server::{NodeError, NodeView};

use crate::estate;
use crate::rest;
use crate::world::World;

/// How a reason hangs together with others of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cause {
    #[default]
    Own,
    /// The inventory names an option file that the server does not read: what that file says or lacks follows from it.
    WrongFile,
    /// It is what the option files say or lack.
    OfFiles,
}

/// One reason, for one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub subject: String,
    pub what: String,
    pub why: String,
    pub next: String,
    /// The file, where it is that another tool writes it: what the file has to have is told too, once that is planned.
    pub managed: Option<Box<Path>>,
    pub cause: Cause,
}

impl Problem {
    #[must_use]
    pub(crate) fn because_of(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n  why:  {}\n  next: {}", self.subject, self.what, self.why, self.next)
    }
}

/// What all checks look at, asked once.
pub struct Seen<'c> {
    pub change: &'c Change,
    pub views: Vec<(NodeName, Result<NodeView, NodeError>)>,
}

impl Seen<'_> {
    pub fn up(&self) -> impl Iterator<Item = (&NodeName, &NodeView)> {
        self.views.iter().filter_map(|(name, view)| view.as_ref().ok().map(|view| (name, view)))
    }

    /// Those whose files are changed: of a join the joiner alone.
    pub fn changed(&self) -> Vec<NodeName> {
        match self.change.joiner() {
            Some(joiner) => vec![joiner.clone()],
            None => self.up().map(|(name, _)| name.clone()).collect(),
        }
    }
}

/// The name of a check whether the change is there at all for nodes that replicate so. It comes first.
pub const NOUNS: &str = "nouns";

pub type Check = fn(&mut World<'_>, &Seen<'_>) -> Vec<Problem>;

/// Runs every check. Empty: the change may be planned.
pub fn preflight(world: &mut World<'_>, change: &Change) -> Vec<Problem> {
    world.recent.wish = Some(change.clone());
    if world.parts.is_empty() {
        return of_part(world, change);
    }
    let mut problems: Vec<Problem> = Vec::new();
    let (mut managed, mut tls_libraries) = (Vec::new(), tls_library::Libraries::new());
    for part in world.parts.clone() {
        let Some(own) = estate::own_change(&part, change) else { continue };
        problems.extend(world.in_part(&part, |world| of_part(world, &own)));
        managed.append(&mut world.recent.managed);
        tls_libraries.append(&mut world.recent.tls_libraries);
    }
    (world.recent.managed, world.recent.tls_libraries) = (managed, tls_libraries);
    problems.extend(estate::problems(world, change));
    // The commands of a node of one part may be those of one of another.
    problems.extend(service_commands::check(world, &Seen { change, views: vec![] }));
    let mut once: Vec<Problem> = Vec::new();
    for problem in problems {
        if !once.contains(&problem) {
            once.push(problem);
        }
    }
    once
}

fn of_part(world: &mut World<'_>, change: &Change) -> Vec<Problem> {
    let views = world.views();
    let seen = Seen { change, views };
    let mut problems: Vec<Problem> = group::check(world, &seen);
    if !problems.is_empty() {
        return problems;
    }
    let of_topology = world.topology.checks_of(change).iter();
    let checks: Vec<&(&str, Check)> = if change.is_at_rest() {
        let needed = of_topology.filter(|(name, _)| rest::OF_TOPOLOGY.contains(name));
        rest::CHECKS.iter().chain(needed).collect()
    } else {
        of_topology.collect()
    };
    for (name, check) in checks {
        for problem in check(world, &seen) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        // Of a change that is not there for these nodes, nothing else matters.
        if *name == NOUNS && !problems.is_empty() {
            break;
        }
    }
    with_causes_once(problems)
}

/// What follows from another reason is left out; one cause of several subjects is told once.
fn with_causes_once(all: Vec<Problem>) -> Vec<Problem> {
    let wrong: Vec<String> =
        all.iter().filter(|one| one.cause == Cause::WrongFile).map(|one| one.subject.clone()).collect();
    let mut problems: Vec<Problem> = Vec::new();
    for one in all {
        if one.cause == Cause::OfFiles && wrong.contains(&one.subject) {
            continue;
        }
        let is_same = |other: &&mut Problem| {
            one.cause == Cause::WrongFile
                && (&other.cause, &other.what, &other.why, &other.next)
                    == (&one.cause, &one.what, &one.why, &one.next)
        };
        match problems.iter_mut().find(is_same) {
            Some(same) => same.subject = format!("{}, {}", same.subject, one.subject),
            None => problems.push(one),
        }
    }
    problems
}

pub fn problem(
    subject: impl std::fmt::Display,
    what: impl Into<String>,
    why: impl Into<String>,
    next: impl Into<String>,
) -> Problem {
    Problem {
        subject: subject.to_string(),
        what: what.into(),
        why: one_reason(&why.into()),
        next: next.into(),
        managed: None,
        cause: Cause::Own,
    }
}

/// Every check that reads option files says it in the same words, so that it is told once.
pub fn unreadable_options(name: &NodeName, error: &NodeError) -> Problem {
    problem(name, "its option files cannot be read", error.unnamed(), "fix the file, then try again")
        .because_of(Cause::OfFiles)
}

/// A node that does not answer, or lets nobody in.
pub fn not_answering(name: &NodeName, error: &NodeError) -> Problem {
    match error {
        NodeError::Down { .. } => problem(
            name,
            "the node is down",
            error.first_line(),
            "start it and wait until it serves again, or take it out of the inventory",
        ),
        NodeError::Refused { why, .. } => problem(
            name,
            "the login does not work",
            why,
            "check user and password in the option file that the inventory names",
        ),
        _ if error.to_string().contains(host::NO_AGENT) => problem(
            name,
            "its machine cannot be reached by ssh",
            error.to_string(),
            "see that ssh gets there and asks nothing; the node's `ssh` and the table [ssh] of the inventory say how",
        ),
        _ => problem(
            name,
            "the node does not answer",
            error.to_string(),
            "check its socket, address and port in the inventory, and whether its machine can be reached",
        ),
    }
}

/// An error that is a reason brings a `why` and a `next` of its own: its `next` gives way to ours, so that a person reads
/// each word once.
fn one_reason(text: &str) -> String {
    text.split("\n  next:").next().unwrap_or("").replace("\n  why:  ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Down, out of reach and not told are three things, and each has its own way on.
    #[test]
    fn who_does_not_answer_is_told_with_what_to_do_there() {
        let node = || NodeName::from("n1");
        let no_agent = format!("{} db1: ssh ended with exit status: 255", host::NO_AGENT);
        let silent = |why: &str| NodeError::Silent { node: node(), why: why.into(), runs_unheard: false };
        let cases = [
            (NodeError::Down { node: node(), why: "no process".into() }, "the node is down", "start it"),
            (
                NodeError::Refused { node: node(), why: "1045".into() },
                "the login does not work",
                "user and password",
            ),
            (
                silent(&no_agent),
                "its machine cannot be reached by ssh",
                "the node's `ssh` and the table [ssh]",
            ),
            (
                NodeError::Host { node: node(), why: no_agent },
                "its machine cannot be reached by ssh",
                "asks nothing",
            ),
            (silent("timed out"), "the node does not answer", "socket, address and port"),
        ];
        for (error, what, next) in cases {
            let problem = not_answering(&node(), &error);
            assert_eq!((problem.subject.as_str(), problem.what.as_str()), ("n1", what), "{error}");
            assert!(problem.next.contains(next), "{error}: {}", problem.next);
            assert!(
                !problem.why.is_empty() && (what == "the node is down") == problem.next.contains("start it"),
                "{problem}"
            );
        }
    }
}

//! Arbitrators: each that votes is in the inventory, runs, and what its start script reads is what it runs with.

use std::path::Path;

use model::{NodeName, Noun, Verb};
use server::arbitrator::OPTIONS;
use server::{ArbitratorView, GaleraFacts, GaleraState, NodeError, WriteArbitrator};

use crate::galera::linked::{Linked, linked};

use super::{Problem, Seen, place, problem};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let counted = seen.up().map(|(_, view)| view.arbitrators()).max().unwrap_or(0);
    let named = world.arbitrators.len();
    let mut problems = Vec::new();
    if counted > named {
        problems.push(problem(
            "cluster",
            match counted - named {
                1 => "1 arbitrator (garbd) is a member and not in the inventory".to_owned(),
                more => format!("{more} arbitrators (garbd) are members and not in the inventory"),
            },
            "it would be locked out by the strict round, and its vote be gone",
            "add an [[arbitrator]] table with its address to sealion.toml (docs: reference/inventory)",
        ));
    }
    let group = seen.up().find_map(|(_, view)| view.variable("wsrep_cluster_name").map(str::to_owned));
    for arbitrator in &mut world.arbitrators {
        let name = arbitrator.name().clone();
        match arbitrator.view() {
            Ok(view) => problems.extend(of_running(&mut **arbitrator, &name, &view, seen, group.as_deref())),
            Err(error @ NodeError::Down { .. }) => problems.push(problem(
                &name,
                "the arbitrator is down",
                error.unnamed(),
                "start it and wait until the nodes count it, or take it out of the inventory",
            )),
            Err(error) => problems.push(problem(
                &name,
                "what the arbitrator was started with cannot be determined",
                error.unnamed(),
                "check its [[arbitrator]] table, and whether its machine can be reached",
            )),
        }
    }
    if problems.is_empty() {
        let names: Vec<NodeName> = world.arbitrators.iter().map(|one| one.name().clone()).collect();
        let apart = names.into_iter().filter(|name| linked(world, name) == Linked::No);
        problems.extend(apart.map(|name| {
            problem(
                &name,
                "the arbitrator is connected with no node",
                "it runs and is no member; if the nodes count one, that is another garbd, which the inventory does not have",
                "see its log; it joins when it is started again. See who connects to the Galera port (ss -tnp)",
            )
        }));
    }
    if counted < named && problems.is_empty() {
        problems.push(problem(
            "cluster",
            format!("the nodes count {counted} arbitrators, the inventory has {named}"),
            "one of them runs and is no member",
            "see its log; it joins when it is started again",
        ));
    }
    problems
}

fn of_running(
    arbitrator: &mut dyn WriteArbitrator,
    name: &NodeName,
    view: &ArbitratorView,
    seen: &Seen<'_>,
    group: Option<&str>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let GaleraState::Other(why) = view.state() {
        return vec![problem(
            name,
            "its TLS options are mixed up",
            why,
            format!("remove every socket.ssl* and socket.dynamic from {OPTIONS} and restart it"),
        )];
    }
    let letters: String = seen.up().map(|(_, view)| view.galera_state().letter()).collect();
    let letter = view.state().letter();
    if seen.change.has(Noun::Galera)
        && seen.change.verb != Verb::Rotate
        && (letter == 'P' && letters.contains('S') || letter == 'S' && letters.contains('P'))
    {
        problems.push(problem(
            name,
            format!("it speaks {}, beside nodes that are {letters}", view.state()),
            "plain and strict members do not reach each other",
            "bring it to socket.dynamic=YES by hand, then plan again",
        ));
    }
    if seen.change.verb == Verb::Rotate && letter != 'S' {
        problems.push(problem(
            name,
            format!("it speaks {}, so there is nothing to rotate safely", view.state()),
            "only members that use nothing but TLS get a new certificate",
            "sealion enable galera",
        ));
    }
    if arbitrator.owner().is_none() {
        problems.push(problem(
            name,
            "which user it runs as cannot be determined",
            "its key must be readable by that user alone",
            "check whether its process can be seen",
        ));
    }
    if let Some(group) = group
        && view.group != group
    {
        problems.push(problem(
            name,
            "it votes in another cluster",
            format!("garbd was started with the group {}, the cluster is {group}", view.group),
            "take it out of the inventory, or name the one of this cluster",
        ));
    }
    let path = arbitrator.spec().defaults_file.display().to_string();
    if let Err(error) = arbitrator.file() {
        problems.push(problem(
            name,
            "the file of its start script cannot be read as one that only sets variables",
            error.unnamed(),
            "name the right `file` in its [[arbitrator]] table, or write its lines as NAME=\"value\"",
        ));
        return problems;
    }
    let spec = arbitrator.spec().clone();
    let dir = spec.defaults_file.parent().unwrap_or(Path::new("/")).to_owned();
    let dirs = [spec.tls_dir.clone(), spec.state_dir.clone(), dir];
    problems.extend(place::unwritable(name, arbitrator.host(), &dirs));
    match arbitrator.file_options() {
        Ok(options) if options != view.options => problems.push(problem(
            name,
            format!("{path} and the running garbd do not agree on {OPTIONS}"),
            format!("the file has \"{options}\", garbd was started with \"{}\"", view.options),
            "restart it with its file as it is, or put the other value there; then plan again. If a unit gives its options on the \
             command line, move them into that file",
        )),
        Ok(_) => {}
        Err(error) => problems.push(problem(
            name,
            format!("{OPTIONS} cannot be read"),
            error.unnamed(),
            "write it as a text in quotes, without variables",
        )),
    }
    problems
}

//! What must hold before a server joins: of the members, of the server itself, of its options and its data.

mod cluster;
mod data;
mod machine;
mod options;
mod server;

use crate::galera::join::{Members, is_member};
use crate::preflight::{Problem, Seen, managed, place, problem, service_commands, tls_library, trust_files};
use crate::world::World;
use model::NodeName;

/// What could not be seen before the server runs, for the plan.
pub fn cannot_tell(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<String> {
    let mut unknown = data::cannot_tell(world, joiner, members);
    unknown.extend(machine::cannot_tell(world, joiner, members));
    unknown.extend(options::manager_begins_one(world, joiner).err());
    unknown
}

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let Some(joiner) = seen.change.joiner() else { return vec![] };
    let mut problems = cluster::check(world, seen, joiner);
    let Some(members) = Members::of(joiner, &seen.views) else { return problems };
    problems.extend(data::ran_alone(world, joiner, &members));
    if is_member(joiner, &seen.views) {
        return problems;
    }
    problems.extend(server::check(world, seen, joiner, &members));
    problems.extend(service_commands::check(world, seen));
    problems.extend(options::check(world, joiner, &members));
    if has_anchor(world, joiner) {
        problems.extend(managed::check(world, seen));
    }
    problems.extend(place::check(world, seen));
    problems.extend(trust_files::check(world, seen));
    problems.extend(machine::check(world, joiner, &members));
    problems.extend(data::check(world, joiner, &members));
    problems.extend(tls_library::check(world, seen));
    problems
}

/// Where not, `options` has said so.
fn has_anchor(world: &mut World<'_>, joiner: &NodeName) -> bool {
    let topology = world.topology;
    let effective = world.node(joiner).ok().and_then(|node| node.effective().ok());
    effective.is_some_and(|effective| topology.anchor(&effective).is_some())
}

//! Versions and suites that somebody else has set are not overwritten, and would count over what is written.

use model::{NodeName, TlsProfile, Verb};
use server::options::Effective;
use server::options::persisted::GROUP;
use server::{Flavour, TlsRules};

use super::{Problem, Seen, problem, unreadable_options};
use crate::topology::Topology;
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(profile) = seen.change.profile.filter(|_| seen.change.verb == Verb::Enable) else {
        return problems;
    };
    let topology = world.topology;
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let effective = match node.effective() {
            Ok(effective) => effective,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        problems.extend(of_server(name, &effective, topology, profile, view.capabilities().flavour));
    }
    problems
}

pub fn of_server(
    name: &NodeName,
    effective: &Effective,
    topology: &dyn Topology,
    profile: TlsProfile,
    flavour: Flavour,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let anchor = topology.anchor(effective);
    for (option, value) in TlsRules::of(profile, flavour).iter() {
        let Some(setting) = effective.effective(option) else { continue };
        let has = setting.value.as_deref().unwrap_or_default();
        // Where ours stand, the line of an earlier profile is ours.
        let is_our_place =
            anchor.is_some_and(|anchor| (&anchor.file, &anchor.group) == (&setting.file, &setting.group));
        if has == value || (is_our_place && TlsRules::is_of_a_profile(flavour, option, has)) {
            continue;
        }
        let next = if setting.group == GROUP {
            format!("RESET PERSIST {option} on that server, then plan again")
        } else {
            "remove that line, then plan again".into()
        };
        problems.push(problem(
            name,
            format!("{option} is set already, to something else than the profile {profile} has"),
            format!("{}:{} says {has}", setting.file.display(), setting.line),
            next,
        ));
    }
    problems
}

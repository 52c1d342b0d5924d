//! The new server itself: it does not run, and could be a member.

use model::NodeName;
use server::{Alive, GaleraFacts, NodeError};

use super::{Members, Problem, Seen, problem};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>, joiner: &NodeName, members: &Members) -> Vec<Problem> {
    let view = seen.views.iter().find(|(name, _)| name == joiner).map(|(_, view)| view);
    let stop =
        world.node(joiner).map(|node| node.spec().service.stop_command().join(" ")).unwrap_or_default();
    match view {
        None => vec![problem(
            joiner,
            "it is not in the inventory",
            "join takes its entry from there",
            "add a [[node]] for it",
        )],
        Some(Ok(view)) if members.have(view) => vec![problem(
            joiner,
            "it is a member already, and not as the others",
            format!(
                "it speaks {} to nodes, and is {}",
                view.galera_state(),
                view.status("wsrep_local_state_comment").unwrap_or("in a state that is not known")
            ),
            "wait until it is Synced; sealion status shows what it is set to do, and sealion enable makes all members alike",
        )],
        Some(Ok(view)) => vec![problem(
            joiner,
            "its server runs, and is no member of this cluster",
            match view.not_galera() {
                Some(why) => format!("it is a server by itself ({why}), and what it holds would be replaced"),
                None => format!(
                    "it is {} with the state UUID {}, the members have {}",
                    view.cluster_status(),
                    view.state_uuid(),
                    members.state_uuid
                ),
            },
            format!("see whether anybody needs it; then stop it ({stop}) and join again"),
        )],
        Some(Err(NodeError::Down { .. })) => match world.node(joiner).map(server::ReadMember::alive) {
            Ok(Alive::No) | Err(_) => vec![],
            Ok(Alive::Yes) => vec![running(joiner, "its process runs", &stop)],
            Ok(Alive::CannotTell(why)) => vec![running(joiner, &why, &stop)],
        },
        Some(Err(NodeError::Silent { why, .. })) => vec![running(joiner, why, &stop)],
        Some(Err(error @ NodeError::Refused { .. })) => vec![problem(
            joiner,
            "its server runs, and does not let sealion in",
            error.unnamed(),
            format!(
                "a server that is to join does not run: see whether anybody needs it; then stop it ({stop})"
            ),
        )],
        Some(Err(error @ NodeError::Host { .. })) => vec![problem(
            joiner,
            "whether its server runs cannot be determined",
            error.unnamed(),
            "check its entry in the inventory, and whether its machine can be reached",
        )],
    }
}

fn running(joiner: &NodeName, why: &str, stop: &str) -> Problem {
    problem(
        joiner,
        "its server is not known to be stopped",
        why,
        format!(
            "stop it ({stop}), and check start, stop and alive of its entry in the inventory; then join again"
        ),
    )
}

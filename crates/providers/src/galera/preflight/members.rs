//! Every member answers, is known, and the cluster is whole and large enough.

use std::collections::BTreeSet;

use model::{NodeName, Noun, Verb};
use server::{GaleraFacts, NodeView};

use super::{Problem, Seen, elsewhere, not_answering, problem};
use crate::galera::quorum::MEMBERS_MIN;
use crate::galera::steps::round::is_out_of_service;
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.has(Noun::Replication) {
        problems.push(problem(
            "cluster",
            "channels to and from a Galera cluster are not changed by this version",
            "replication is changed where servers are outside of one",
            format!("sealion plan {} galera,sst,clients", seen.change.verb),
        ));
    }
    let topology = world.topology;
    for (name, view) in &seen.views {
        match view {
            Err(error) => problems.push(not_answering(name, error)),
            Ok(view) => {
                if let Err(instead) = topology.role(view) {
                    problems.push(problem(
                        name,
                        "this server is not part of a Galera cluster",
                        format!("{}, {instead}", view.version()),
                        "name the nodes of a Galera cluster; other replication is not changed by this version",
                    ));
                    continue;
                }
                // Without it nobody could be drained, nor said to have left.
                let Ok(node) = world.node(name) else { continue };
                if let Err(error) = node.sessions() {
                    problems.push(problem(
                        name,
                        "who is connected cannot be seen",
                        error.to_string(),
                        "GRANT PROCESS ON *.* to the account that the inventory names, then plan again",
                    ));
                }
            }
        }
    }
    problems.extend(elsewhere::check(world, seen));
    problems.extend(twice(seen));
    if !problems.is_empty() {
        return problems;
    }
    let members = seen.up().map(|(_, view)| view.cluster_size()).max().unwrap_or(0);
    let arbitrators = seen.up().map(|(_, view)| view.arbitrators()).max().unwrap_or(0);
    let subject = "cluster";
    if members > seen.views.len() + arbitrators {
        let known: Vec<&str> = seen.views.iter().map(|(name, _)| name.as_str()).collect();
        problems.push(problem(
            subject,
            format!("{} members are not in the inventory", members - seen.views.len() - arbitrators),
            format!("the cluster has {members} members, the inventory has {}", known.join(", ")),
            "add every node to sealion.toml (an entry with `joining = true` does not count): one that is left out is locked out by the strict \
             round",
        ));
    }
    if members < MEMBERS_MIN && seen.change.verb != Verb::Rotate {
        problems.push(problem(
            subject,
            format!("the cluster has {members} members; a roll without downtime needs {MEMBERS_MIN}"),
            "while one of two nodes restarts, the other is alone and any hiccup stops the service",
            "add a third node, or plan a window in which all nodes may be stopped",
        ));
    }
    let is_ours = |name: &&NodeName| world.node(name).is_ok_and(|node| is_out_of_service(node));
    let by_sealion: Vec<&NodeName> = seen.up().map(|(name, _)| name).filter(is_ours).collect();
    for (name, view) in seen.up() {
        if !view.is_primary() {
            problems.push(problem(
                name,
                "the node is not in the primary component",
                format!("wsrep_cluster_status is {}", view.cluster_status()),
                "let the cluster come together first",
            ));
        } else if !view.is_synced() || !view.is_ready() {
            problems.push(problem(
                name,
                "the node is not Synced",
                format!(
                    "wsrep_local_state is {} ({})",
                    view.local_state(),
                    view.status("wsrep_local_state_comment").unwrap_or("?")
                ),
                if by_sealion.contains(&name) {
                    "sealion took it out of service in a change that was abandoned: SET GLOBAL wsrep_desync=OFF there"
                } else {
                    "wait until the backup, SST or desync that is under way has ended"
                },
            ));
        }
    }
    let uuids: BTreeSet<&str> = seen.up().map(|(_, view)| view.state_uuid()).collect();
    if uuids.len() > 1 {
        problems.push(problem(
            subject,
            "the nodes are not one cluster",
            format!(
                "their wsrep_cluster_state_uuid are {}",
                uuids.into_iter().collect::<Vec<_>>().join(", ")
            ),
            "put the nodes of one cluster into one inventory",
        ));
    }
    problems
}

/// Two entries of the inventory that lead to one server.
fn twice(seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let up: Vec<(&NodeName, &NodeView)> = seen.up().collect();
    for (at, (name, view)) in up.iter().enumerate() {
        // Source: Galera status variables: the node's own id in the group, new at each start.
        let Some(id) = view.status("wsrep_gcomm_uuid").filter(|id| !id.is_empty()) else { continue };
        if let Some((first, _)) =
            up.iter().take(at).find(|(_, other)| other.status("wsrep_gcomm_uuid") == Some(id))
        {
            problems.push(problem(
                name,
                format!("{name} and {first} are one and the same server"),
                format!("both answer with wsrep_gcomm_uuid {id}"),
                "give each node its own socket (or address), defaults_file, tls_dir and state_dir in the inventory",
            ));
        }
    }
    problems
}

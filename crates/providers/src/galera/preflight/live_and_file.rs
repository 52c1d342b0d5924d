//! What the server runs with is what its files say, and it is one of the states that we know.

use std::collections::BTreeMap;

use model::{NodeName, Noun, Verb};
use server::cluster_address::hosts;
use server::options::Effective;
use server::{GaleraFacts, GaleraState, NodeView, ProviderOptions};

use super::{Cause, Problem, Seen, problem, unreadable_options};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut letters = String::new();
    let addresses: BTreeMap<String, Vec<String>> = world
        .nodes
        .iter()
        .map(|node| {
            let spec = node.spec();
            let all = std::iter::once(spec.address.clone())
                .chain(spec.names.clone())
                .chain([spec.name.to_string()]);
            (spec.name.to_string(), all.collect())
        })
        .collect();
    for (name, view) in seen.up() {
        if let GaleraState::Other(why) = view.galera_state() {
            problems.push(problem(
                name,
                "its Galera TLS options are mixed up",
                why,
                "remove every socket.ssl* and socket.dynamic from wsrep_provider_options on this node and restart it",
            ));
            continue;
        }
        letters.push(view.galera_state().letter());
        let Ok(node) = world.node(name) else { continue };
        let effective = match node.effective() {
            Ok(effective) => effective,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        for mistake in &effective.mistakes {
            problems.push(problem(
                name,
                "an option file has a mistake",
                mistake,
                "fix that line: what stands after it does not count, and what sealion would write there would not either",
            ));
        }
        let others: Vec<String> =
            seen.up().filter(|(other, _)| *other != name).map(|(other, _)| other.to_string()).collect();
        problems.extend(way_back(name, view, &effective, &others, &addresses));
        let file = effective.effective("wsrep_provider_options");
        let text = file.and_then(|setting| setting.value.as_deref()).unwrap_or("");
        let place = file.map_or_else(
            || node.spec().defaults_file.display().to_string(),
            |setting| format!("{}:{}", setting.file.display(), setting.line),
        );
        let in_file = ProviderOptions::parse(text);
        let live = view.provider_options();
        let mut differ = in_file.differences(&live);
        let in_file_yes = in_file.get("socket.ssl").is_some() || in_file.get("socket.ssl_key").is_some();
        if !in_file_yes && view.galera_state() != GaleraState::Plain {
            differ.push("socket.ssl".into());
        }
        if !differ.is_empty() {
            problems.push(problem(
                name,
                "its option file and the running server do not agree on wsrep_provider_options",
                format!("{place}: {} {} from what the server runs with", differ.join(", "), if differ.len() == 1 { "differs" } else { "differ" }),
                "restart the node with its file as it is, or put the live value into the file; then plan again",
            ));
        }
    }
    if letters.contains('P')
        && letters.contains('S')
        && seen.change.has(Noun::Galera)
        && seen.change.verb != Verb::Rotate
    {
        problems.push(problem(
            "cluster",
            "plain and strict nodes stand beside each other",
            format!("the nodes are {letters}; a plain node that serves a strict one crashes"),
            "stop here: bring the strict ones to socket.dynamic=YES by hand, one at a time, then plan again",
        ));
    }
    problems
}

/// Options that decide whether a node finds back into its cluster after a restart. They were read when it was started last, and
/// the file may say otherwise since.
const DECIDES: [&str; 8] = [
    "wsrep_cluster_address",
    "wsrep_cluster_name",
    "wsrep_node_address",
    "wsrep_provider",
    "wsrep_on",
    "datadir",
    "port",
    "bind_address",
];

/// As two texts of one option are compared: paths with or without a slash at the end, numbers and booleans in their spellings.
fn normal(value: &str) -> String {
    let value = value.trim().trim_end_matches('/').to_ascii_lowercase();
    match value.as_str() {
        "1" | "true" | "yes" => "on".into(),
        "0" | "false" | "no" => "off".into(),
        "*" | "0.0.0.0" | "::" => "*".into(),
        _ => value,
    }
}

fn way_back(
    name: &NodeName,
    view: &NodeView,
    effective: &Effective,
    others: &[String],
    addresses: &BTreeMap<String, Vec<String>>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for option in DECIDES {
        let (Some(setting), Some(live)) = (effective.effective(option), view.variable(option)) else {
            continue;
        };
        let in_file = setting.value.as_deref().unwrap_or("");
        if normal(in_file) != normal(live) {
            problems.push(problem(
                name,
                format!("its option file and the running server do not agree on {option}"),
                format!(
                    "{}:{} has \"{in_file}\", the server runs with \"{live}\"; after a restart the file counts",
                    setting.file.display(),
                    setting.line
                ),
                "put the value that is right into the file, or restart the node with it; then plan again",
            ));
        }
    }
    let setting = effective.effective("wsrep_cluster_address");
    let address = setting
        .and_then(|setting| setting.value.as_deref())
        .or_else(|| view.variable("wsrep_cluster_address"));
    let named = hosts(address.unwrap_or(""));
    let place = setting.map_or_else(
        || "no option file sets it".to_owned(),
        |setting| format!("{}:{}", setting.file.display(), setting.line),
    );
    if setting.is_none() && view.variable("wsrep_cluster_address").is_some() {
        problems.push(
            problem(
                name,
                "no option file sets wsrep_cluster_address, so it would not find its cluster after a restart",
                "the running server has it from elsewhere",
                "put it into the option file, then plan again",
            )
            .because_of(Cause::OfFiles),
        );
    } else if named.is_empty() && address.is_some() {
        problems.push(problem(
            name,
            "its wsrep_cluster_address names nobody: a restart would make a cluster of its own, or none",
            place,
            "write the addresses of the members there: gcomm://NODE,NODE,NODE; then plan again",
        ));
    } else if !others.is_empty()
        && !named.iter().any(|host| {
            // A name that is not of the inventory may be any of them: a DNS name of the cluster, say.
            let own = addresses.get(name.as_str()).is_some_and(|all| all.iter().any(|one| one == host));
            !own
        })
        && address.is_some()
    {
        problems.push(problem(
            name,
            "its wsrep_cluster_address names no other member, so it would not find its cluster after a restart",
            place,
            "write the addresses of the other members there, then plan again",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_the_same() {
        for (one, other) in [("/var/lib/mysql", "/var/lib/mysql/"), ("1", "ON"), ("*", "0.0.0.0")] {
            assert_eq!(normal(one), normal(other));
        }
        assert_ne!(normal("gcomm://"), normal("gcomm://a,b"));
    }
}

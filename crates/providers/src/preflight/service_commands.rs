//! Start and stop of each node are its own: those of another node would stop a server that nobody has drained.

use std::collections::BTreeSet;

use host::Service;
use model::NodeName;
use server::NodeSpec;

use super::{Problem, Seen, problem};
use crate::world::World;

pub fn check(world: &mut World<'_>, _: &Seen<'_>) -> Vec<Problem> {
    let specs: Vec<NodeSpec> = world.nodes.iter().map(|node| node.spec().clone()).collect();
    let of_arbitrators = world.arbitrators.iter().map(|one| one.spec().clone());
    let specs: Vec<NodeSpec> = specs.into_iter().chain(of_arbitrators).collect();
    specs.iter().flat_map(|spec| of_another(spec, &specs)).collect()
}

/// Commands of `spec` that name another node of the inventory, or its files, and nothing of its own.
fn of_another(spec: &NodeSpec, all: &[NodeSpec]) -> Vec<Problem> {
    let Service::Commands { start, stop, alive } = &spec.service else { return vec![] };
    let own = names_of(spec);
    let mut problems = Vec::new();
    for (key, command) in [("start", start), ("stop", stop), ("alive", alive.as_ref().unwrap_or(&vec![]))] {
        let named = |name: &&String| command.iter().any(|word| is_named(word, name));
        if own.iter().any(|name| named(&name)) {
            continue;
        }
        let other = all.iter().filter(|other| other.name != spec.name).find_map(|other| {
            let theirs = names_of(other);
            let word = theirs.difference(&own).find(named)?.clone();
            Some((&other.name, word))
        });
        if let Some((other, word)) = other {
            problems.push(mixed_up(&spec.name, key, other, &word));
        }
    }
    problems
}

/// What stands for one node in a command line.
fn names_of(spec: &NodeSpec) -> BTreeSet<String> {
    let paths =
        [Some(&spec.defaults_file), spec.socket.as_ref(), spec.pid_file.as_ref(), spec.error_log.as_ref()];
    let mut names: BTreeSet<String> =
        paths.into_iter().flatten().map(|path| path.display().to_string()).collect();
    names.insert(spec.name.to_string());
    names
}

/// `word` is the name, or ends with it behind one of `=`, `@` and `:`, with or without `.service`.
fn is_named(word: &str, name: &str) -> bool {
    let word = word.strip_suffix(".service").unwrap_or(word);
    word == name || word.strip_suffix(name).is_some_and(|before| before.ends_with(['=', '@', ':']))
}

fn mixed_up(name: &NodeName, key: &str, other: &NodeName, word: &str) -> Problem {
    problem(
        name,
        format!("its {key} command is about {other}"),
        format!(
            "it names {word} and nothing of {name}: another server would be stopped or started, without a drain"
        ),
        format!("give {name} its own {key} command in the inventory"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, stop: &[&str]) -> NodeSpec {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        NodeSpec {
            pid_file: Some(format!("/run/{name}.pid").into()),
            service: Service::Commands { start: words(&["start-it", name]), stop: words(stop), alive: None },
            ..NodeSpec::new(name, "127.0.0.1")
        }
    }

    #[test]
    fn a_command_that_names_another_node_is_refused() {
        let check = |stop: &[&str], refused: bool| {
            let all = [spec("n2", stop), spec("n3", &["lab", "stop", "n3"])];
            assert_eq!(!of_another(&all[0], &all).is_empty(), refused, "{stop:?}");
        };
        check(&["lab", "stop", "n2"], false);
        check(&["lab", "stop", "n3"], true);
        check(&["pkill", "--pidfile", "/run/n3.pid"], true);
        check(&["pkill", "--pidfile=/run/n3.pid"], true);
        check(&["systemctl", "stop", "mariadb@n3.service"], true);
        check(&["systemctl", "stop", "mariadb@n2.service"], false);
        // It takes n2 and is told where n3 is: nobody can say that it is wrong.
        check(&["failover", "n2", "--to=n3"], false);
        check(&["stop-it"], false);
        check(&["stop-it", "xn3"], false);
    }
}

//! Start and stop of each node are its own: those of another node would stop a server that nobody has drained.

use std::collections::BTreeSet;
use std::time::Duration;

use host::{Service, ServiceState};
use model::NodeName;
use server::{NodeSpec, WriteNode};

use super::{Problem, Seen, problem};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let specs: Vec<NodeSpec> = world.nodes.iter().map(|node| node.spec().clone()).collect();
    let of_arbitrators = world.arbitrators.iter().map(|one| one.spec().clone());
    let specs: Vec<NodeSpec> = specs.into_iter().chain(of_arbitrators).collect();
    let mut problems: Vec<Problem> = specs.iter().flat_map(|spec| of_another(spec, &specs)).collect();
    problems.extend(specs.iter().flat_map(mistaken));
    for (name, _) in seen.up() {
        problems.extend(world.node(name).ok().and_then(|node| denied(node)));
    }
    problems
}

/// A command that only asks is back long before.
const ALIVE_MAX: Duration = Duration::from_secs(10);

/// Words that say what a command of a service manager does.
const VERBS: [&str; 2] = ["start", "stop"];

/// Commands that cannot do what they are for, whatever server they are of.
fn mistaken(spec: &NodeSpec) -> Vec<Problem> {
    let Service::Commands { start, stop, alive } = &spec.service else { return vec![] };
    let mut problems = Vec::new();
    let mut refuse = |key: &str, command: &[String], why: &str| {
        problems.push(problem(
            &spec.name,
            format!("its {key} command does something else"),
            format!("{key} = {command:?} in the inventory: {why}"),
            format!("give {} a {key} command that does it, then plan again", spec.name),
        ));
    };
    let does = |command: &[String], verb: &str| {
        let other = VERBS
            .iter()
            .find(|known| **known != verb)
            .is_some_and(|other| command.iter().any(|word| word == other));
        other && !command.iter().any(|word| word == verb)
    };
    if start == stop {
        refuse("stop", stop, "it is its start command, too");
    } else {
        for (key, command) in [("start", start), ("stop", stop)] {
            if does(command, key) {
                refuse(key, command, "it says the opposite; start and stop may have changed places");
            }
        }
    }
    if let Some(alive) = alive.as_ref().filter(|alive| is_constant(alive)) {
        refuse("alive", alive, "it says yes whether the server runs or not");
    }
    problems
}

/// A program, or a script of a shell, that only ends well.
fn is_constant(command: &[String]) -> bool {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let name = |program: &str| program.rsplit('/').next().unwrap_or_default().to_owned();
    match words[..] {
        [program, "-c", script] if name(program).ends_with("sh") => {
            ["true", ":", "exit", "exit 0", "/bin/true"].contains(&script.trim().trim_end_matches(';'))
        }
        [program, ..] => [":", "true"].contains(&name(program).as_str()),
        [] => false,
    }
}

/// It answers, and its own `alive` says that it does not run.
fn denied(node: &dyn WriteNode) -> Option<Problem> {
    let spec = node.spec();
    let Service::Commands { alive: Some(alive), .. } = &spec.service else { return None };
    let is_denied = matches!(node.host().service_state(&spec.service, ALIVE_MAX), ServiceState::Stopped);
    is_denied.then(|| {
        problem(
            &spec.name,
            "its alive command says that it does not run, and it answers",
            format!("alive = {alive:?} in the inventory"),
            format!("give {} an alive command that ends with 0 while it runs, then plan again", spec.name),
        )
    })
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
    fn commands_that_do_something_else_are_refused_with_what_the_inventory_says() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let check = |start: &str, stop: &str, alive: Vec<String>, refused: &[&str]| {
            let mut spec = NodeSpec::new("n1", "127.0.0.1");
            spec.service = Service::Commands { start: words(start), stop: words(stop), alive: Some(alive) };
            let keys: Vec<String> = mistaken(&spec).iter().map(|one| one.what.clone()).collect();
            let keys: Vec<&str> = keys.iter().filter_map(|what| what.split(' ').nth(1)).collect();
            assert_eq!(keys, refused, "{start}, {stop}");
        };
        let pid = || words("pgrep --pidfile /run/n1.pid");
        let script = |text: &str| vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()];
        check("systemctl start mariadb", "systemctl stop mariadb", pid(), &[]);
        check("systemctl stop mariadb", "systemctl start mariadb", pid(), &["start", "stop"]);
        check("systemctl stop mariadb", "systemctl stop mariadb", pid(), &["stop"]);
        check("up n1", "down n1", words("/bin/true"), &["alive"]);
        check("up n1", "down n1", words(":"), &["alive"]);
        check("up n1", "down n1", script("exit 0"), &["alive"]);
        check("up n1", "down n1", script("true && pgrep mysqld"), &[]);
        // Nobody can say that these are wrong.
        check("docker start stop", "docker stop stop", pid(), &[]);
        check("restart-it", "stop-it", words("truer"), &[]);
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

//! Options on a server's command line beat every file: what we would write would not count.

use std::path::Path;

use model::NodeName;

use super::{Cause, Problem, Seen, problem};
use crate::world::World;

/// Beside the topology's anchors.
const OURS: [&str; 5] = ["ssl", "ssl_ca", "ssl_cert", "ssl_key", "require_secure_transport"];

/// What a profile sets.
const OF_PROFILE: [&str; 3] = ["tls_version", "ssl_cipher", "tls_ciphersuites"];

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let topology = world.topology;
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let Some(process) = node.process() else {
            problems.push(problem(
                name,
                "its process cannot be seen",
                format!(
                    "the pid file {} does not lead to a running process",
                    node.spec().pid_file.as_ref().map_or_else(|| "(none given)".into(), |path| path.display().to_string())
                ),
                "name the right pid_file in the inventory: without it nobody can say what is on the command line",
            ));
            continue;
        };
        for option in ["--defaults-extra-file", "--defaults-group-suffix"] {
            if process.command_line.iter().skip(1).any(|word| word.split('=').next() == Some(option)) {
                problems.push(problem(
                    name,
                    format!("{option} is given on the server's command line"),
                    "it reads files or groups that sealion does not read, and they may win over what would be written",
                    "move these options into the file that the inventory names, restart the node without it, plan again",
                ));
            }
        }
        problems.extend(other_file(name, &node.spec().defaults_file, &process.command_line));
        for word in process.command_line.iter().skip(1) {
            let Some(option) = word.strip_prefix("--") else { continue };
            let key = option.split('=').next().unwrap_or("").replace('-', "_");
            let option = key.trim_start_matches("loose_");
            let of_profile = seen.change.profile.is_some() && OF_PROFILE.contains(&option);
            if OURS.contains(&option) || of_profile || topology.anchors().contains(&option) {
                problems.push(problem(
                    name,
                    format!("--{key} is given on the server's command line"),
                    "it wins over every option file, so a change in the file would not count",
                    if of_profile {
                        "remove it there (see the unit's ExecStart and MYSQLD_OPTS), restart the node, plan again: the profile sets it"
                    } else {
                        "move it into an option file (see the unit's ExecStart and MYSQLD_OPTS), restart the node, plan again"
                    },
                ));
            }
        }
    }
    problems
}

/// Where a server looks that is told nothing. Source: `mariadbd --help --verbose` of Debian's package.
const USUAL: [&str; 3] = ["/etc/my.cnf", "/etc/mysql/my.cnf", "/etc/mysql/mariadb.cnf"];

/// The server reads the file that the inventory names, or what is written there does not count.
fn other_file(name: &NodeName, ours: &Path, command_line: &[String]) -> Option<Problem> {
    let theirs = command_line.iter().skip(1).find_map(|word| word.strip_prefix("--defaults-file="));
    let same = match theirs {
        Some(theirs) => Path::new(theirs) == ours,
        None => USUAL.iter().any(|usual| Path::new(usual) == ours),
    };
    (!same).then(|| {
        problem(
            name,
            "the server reads another option file than the inventory names",
            format!(
                "it was started with {}, the inventory says defaults_file = {}",
                theirs.map_or_else(
                    || "no --defaults-file".to_owned(),
                    |file| format!("--defaults-file={file}")
                ),
                ours.display()
            ),
            "name the server's file in the inventory",
        )
        .because_of(Cause::WrongFile)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_inventory_must_be_the_servers() {
        let check = |ours: &str, words: &[&str], refused: bool| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let problem = other_file(&NodeName::from("n1"), Path::new(ours), &words);
            assert_eq!(problem.is_some(), refused, "{ours} {words:?}");
        };
        check("/etc/mysql/my.cnf", &["mariadbd"], false);
        check("/srv/my.cnf", &["mariadbd"], true);
        check("/srv/my.cnf", &["mariadbd", "--defaults-file=/srv/my.cnf"], false);
        check("/etc/mysql/my.cnf", &["mariadbd", "--defaults-file=/srv/my.cnf"], true);
    }
}

//! Options on a server's command line beat every file: what we would write would not count.

use super::{Problem, Seen, problem};
use crate::transit::world::Transit;

const OURS: [&str; 7] = [
    "wsrep_provider_options",
    "wsrep_cluster_address",
    "ssl",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "require_secure_transport",
];

pub fn check(transit: &mut Transit<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, _) in seen.up() {
        let Ok(node) = transit.node(name) else { continue };
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
        for word in process.command_line.iter().skip(1) {
            let Some(option) = word.strip_prefix("--") else { continue };
            let key = option.split('=').next().unwrap_or("").replace('-', "_");
            if OURS.contains(&key.trim_start_matches("loose_")) {
                problems.push(problem(
                    name,
                    format!("--{key} is given on the server's command line"),
                    "it wins over every option file, so a change in the file would not count",
                    "move it into an option file (see the unit's ExecStart and MYSQLD_OPTS), restart the node, plan again",
                ));
            }
        }
    }
    problems
}

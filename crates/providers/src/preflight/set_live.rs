//! What was set in a running server and stands in no file is lost by a restart: refused where the node would come back weaker or
//! as another one, else told in the plan.

use std::collections::BTreeSet;

use model::{NodeName, Plan, Verb};
use server::{AfterRestart, LiveSetting, NodeError};

use super::{Problem, Seen, problem, unreadable_options};
use crate::replication::steps::restart::RESTART;
use crate::steps::StepKind;
use crate::world::World;

/// Compared by other checks (`live-and-file`), or sealion's own.
const ELSEWHERE: [&str; 5] = [
    "wsrep_provider_options",
    "wsrep_cluster_address",
    "wsrep_cluster_name",
    "wsrep_node_address",
    "wsrep_desync",
];

/// Of `wsrep_…`, what changes neither who a node is nor how it comes back.
const HARMLESS: [&str; 12] = [
    "wsrep_slave_threads",
    "wsrep_debug",
    "wsrep_log_conflicts",
    "wsrep_retry_autocommit",
    "wsrep_sync_wait",
    "wsrep_causal_reads",
    "wsrep_max_ws_rows",
    "wsrep_max_ws_size",
    "wsrep_osu_method",
    "wsrep_load_data_splitting",
    "wsrep_trx_fragment_size",
    "wsrep_trx_fragment_unit",
];

/// These protect data while they are on.
const PROTECTS: [&str; 3] = ["require_secure_transport", "read_only", "super_read_only"];

enum Loss {
    /// The node would be weaker, or another one.
    Refused(LiveSetting, String),
    Told(String),
}

impl Loss {
    fn problem(self, name: &NodeName) -> Option<Problem> {
        let Self::Refused(setting, then) = self else { return None };
        Some(problem(
            name,
            format!("{} was set live, and a restart would lose it", setting.name),
            format!("it is {} now, and would be {then}", setting.value),
            "put the live value into the option file, or set it live to what the file gives; then plan again",
        ))
    }
}

fn losses(world: &mut World<'_>, name: &NodeName) -> Result<Vec<Loss>, NodeError> {
    let Ok(node) = world.node(name) else { return Ok(vec![]) };
    let settings = node.live_settings()?;
    let files = node.effective()?;
    let mut losses = Vec::new();
    for setting in settings {
        let option = setting.name.as_str();
        if ELSEWHERE.contains(&option) {
            continue;
        }
        let is_on = ["on", "1"].contains(&setting.value.to_ascii_lowercase().as_str());
        let decides = (option.starts_with("wsrep_") && !HARMLESS.contains(&option))
            || (PROTECTS.contains(&option) && is_on);
        losses.push(match setting.after_restart(&files) {
            AfterRestart::Same => continue,
            AfterRestart::Other(then) if decides => Loss::Refused(setting, then),
            AfterRestart::Other(then) => {
                Loss::Told(format!("{option}={} was set live, and a restart makes it {then}", setting.value))
            }
            AfterRestart::CannotTell(why) => Loss::Told(format!(
                "{option} was set live; what a restart makes of it cannot be determined: {why}"
            )),
        });
    }
    Ok(losses)
}

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    // Nothing is restarted.
    if seen.change.verb == Verb::Rotate {
        return vec![];
    }
    let mut problems = Vec::new();
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        if let Err(error) = node.effective() {
            problems.push(unreadable_options(name, &error));
            continue;
        }
        problems.extend(of_node(world, name));
    }
    problems
}

fn of_node(world: &mut World<'_>, name: &NodeName) -> Vec<Problem> {
    match losses(world, name) {
        Ok(losses) => losses.into_iter().filter_map(|loss| loss.problem(name)).collect(),
        // A restart could lose what makes it the node that it is.
        Err(error) => vec![problem(
            name,
            "what was set live, and a restart would lose, cannot be determined",
            error.to_string(),
            "let the inventory's account read information_schema.SYSTEM_VARIABLES (MySQL: \
             performance_schema.variables_info), then plan again",
        )],
    }
}

/// What stands against the restarts of servers outside of Galera, which not every change has: its plan says which.
pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let restarts = plan.steps.iter().filter(|step| !step.no_op && step.kind == RESTART.kind());
    let names: BTreeSet<NodeName> = restarts.flat_map(|step| step.nodes.clone()).collect();
    (names.iter().flat_map(|name| of_node(world, name)).collect(), vec![])
}

/// What the plan tells of nodes that it restarts.
pub fn told(world: &mut World<'_>, restarted: &BTreeSet<NodeName>) -> Vec<String> {
    let mut lines = Vec::new();
    for name in restarted {
        match losses(world, name) {
            Ok(losses) => lines.extend(losses.into_iter().filter_map(|loss| match loss {
                Loss::Told(text) => Some(format!("{name}: {text}")),
                Loss::Refused(..) => None,
            })),
            Err(error) => lines.push(format!(
                "{name}: what was set live and a restart would lose is not known ({})",
                error.first_line()
            )),
        }
    }
    lines
}

//! Keys that a change has replaced and keeps on the nodes for its undo: where they are, and away with them once nothing can need
//! them.

use std::path::PathBuf;

use model::{NodeName, Plan, Step};

use crate::files::{self, CA_FILE, CERT_FILE, KEY_FILE};
use crate::steps::{self, files::in_use};
use crate::world::World;

const FILES: [&str; 3] = [KEY_FILE, CERT_FILE, CA_FILE];

fn place(step: &Step) -> Option<PathBuf> {
    steps::of(step).ok()?.keeps(step)
}

fn places(plan: &Plan) -> Vec<(NodeName, PathBuf)> {
    let steps = plan.steps.iter().filter(|step| !step.no_op);
    steps.filter_map(|step| Some((step.nodes.first()?.clone(), place(step)?))).collect()
}

/// Removes what changes have kept that cannot be undone any more. `needed` still can be; what it keeps is left. Returns what is
/// to be told: what was removed, and what could not be.
pub fn forget(world: &mut World<'_>, over: &[&Plan], needed: Option<&Plan>) -> Vec<String> {
    let needed = needed.map(places).unwrap_or_default();
    let mut told = Vec::new();
    for plan in over {
        let (mut nodes, mut failed) = (Vec::new(), Vec::new());
        for (name, place) in places(plan).into_iter().filter(|place| !needed.contains(place)) {
            match forget_at(world, &name, &place) {
                Ok(true) => nodes.push(name.to_string()),
                Ok(false) => {}
                Err(why) => failed.push(format!("{name}: {why}")),
            }
        }
        if !nodes.is_empty() {
            told.push(format!(
                "keys that {} had replaced were removed, since it cannot be undone any more: {}",
                plan.id,
                nodes.join(", ")
            ));
        }
        for why in failed {
            told.push(format!("keys that {} had replaced could not be removed: {why}", plan.id));
        }
    }
    told
}

/// Whether something was there.
fn forget_at(world: &mut World<'_>, name: &NodeName, place: &PathBuf) -> Result<bool, String> {
    let node = world.member(name).map_err(|error| error.to_string())?;
    let dir = node.spec().state_dir.join(place);
    let host = node.write_host();
    if host.facts(&dir).map_err(|error| error.to_string())?.is_none() {
        return Ok(false);
    }
    for file in FILES {
        host.remove(&dir.join(file)).map_err(|error| error.to_string())?;
    }
    host.remove_dir(&dir).map_err(|error| error.to_string())?;
    Ok(true)
}

/// Removes the files that steps of abandoned changes have placed, where nothing refers to them any more: by the hashes with which
/// they were placed. Returns what is to be told.
pub fn forget_placed(world: &mut World<'_>, plan_id: &str, steps: &[&Step]) -> Vec<String> {
    let mut told = Vec::new();
    let placing = steps.iter().filter(|step| step.kind == "files");
    for name in placing.filter_map(|step| step.nodes.first()) {
        match forget_placed_at(world, name) {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => told.push(format!(
                "{name}: files that {plan_id} had placed were removed, since it was abandoned and nothing refers to them: {}",
                removed.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
            )),
            Err(why) => told.push(format!("{name}: files that {plan_id} had placed may be left: {why}")),
        }
    }
    told
}

fn forget_placed_at(world: &mut World<'_>, name: &NodeName) -> Result<Vec<PathBuf>, String> {
    let node = world.member(name).map_err(|error| error.to_string())?;
    let dir = node.spec().tls_dir.display().to_string();
    let unknown = |error: change::StepError| {
        format!(
            "whether anything needs what lies in {dir} cannot be determined ({})",
            error.0.lines().next().unwrap_or("")
        )
    };
    if files::in_place(node).map_err(unknown)?.iter().all(|(_, is_ours)| !is_ours) {
        return Ok(vec![]);
    }
    if in_use(world, name).map_err(unknown)?.is_some() {
        return Ok(vec![]);
    }
    let node = world.member(name).map_err(|error| error.to_string())?;
    files::remove_placed(node).map_err(|error| error.to_string())
}

/// Nodes that do not keep any more what undo of these steps would put back.
///
/// # Errors
/// A node that cannot be looked at.
pub fn missing(world: &mut World<'_>, steps: &[&Step]) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    for (name, place) in steps.iter().filter_map(|step| Some((step.nodes.first()?.clone(), place(step)?))) {
        let node = world.member(&name).map_err(|error| error.to_string())?;
        let key = node.spec().state_dir.join(place).join(KEY_FILE);
        if node.host().facts(&key).map_err(|error| format!("{name}: {error}"))?.is_none() {
            missing.push(name.to_string());
        }
    }
    Ok(missing)
}

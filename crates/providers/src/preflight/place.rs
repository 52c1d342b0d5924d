//! Rights for what will be written. Room is asked for by the steps: [`crate::needs`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use host::ReadHost;
use model::NodeName;

use super::{Problem, Seen, problem};
use crate::needs::existing;
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let topology = world.topology;
    // On other machines the same path is another file, and there state_dir is the same too.
    let mut files: BTreeMap<PathBuf, (NodeName, PathBuf)> = BTreeMap::new();
    for name in &seen.changed() {
        let Ok(node) = world.node(name) else { continue };
        let spec = node.spec().clone();
        let mut dirs = vec![spec.tls_dir.clone(), spec.state_dir.clone()];
        if let Ok(effective) = node.effective()
            && let Some(setting) = topology.anchor(&effective)
            && let Some(dir) = setting.file.parent()
        {
            dirs.push(dir.to_owned());
            let shared = files.insert(setting.file.clone(), (name.clone(), spec.state_dir.clone()));
            if let Some((other, _)) = shared.filter(|(_, state_dir)| *state_dir != spec.state_dir) {
                problems.push(problem(
                    name,
                    format!("its options stand in the same file as those of {other}"),
                    format!(
                        "{} sets them for both, so one node could not be changed without the other",
                        setting.file.display()
                    ),
                    "give each node a file of its own, and name it as defaults_file in the inventory",
                ));
            }
            match node.host().facts(&setting.file) {
                Ok(Some(facts)) if facts.links > 1 => problems.push(problem(
                    name,
                    format!("{} has {} names (hard links)", setting.file.display(), facts.links),
                    "a new version of it would be seen under one of them only",
                    "copy it onto itself (cp -p FILE FILE.new && mv FILE.new FILE), or make the others symbolic links; then try again",
                )),
                Ok(_) => {}
                Err(error) => problems.push(problem(
                    name,
                    "its option file cannot be read",
                    error.to_string(),
                    "check the path and the rights of this user",
                )),
            }
        }
        problems.extend(unwritable(name, node.host(), &dirs));
    }
    problems
}

/// Directories, or the nearest above them that are there, that we may not write to.
pub fn unwritable(name: &NodeName, host: &dyn ReadHost, dirs: &[PathBuf]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for dir in dirs {
        let seen = existing(host, dir).and_then(|there| Ok((host.writable(&there)?, there)));
        match seen {
            Ok((true, _)) => {}
            Ok((false, there)) => problems.push(problem(
                name,
                format!("{} cannot be written to", there.display()),
                "it belongs to another user, or its file system is read-only",
                "run sealion as a user who may write there, or remount it",
            )),
            Err(error) => problems.push(problem(
                name,
                format!("whether {} can be written to cannot be determined", dir.display()),
                error.to_string(),
                "check the path and the rights of this user",
            )),
        }
    }
    problems
}

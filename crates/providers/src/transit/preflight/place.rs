//! Room and rights for what will be written.

use std::path::{Path, PathBuf};

use super::{Problem, Seen, problem};
use crate::transit::world::Transit;

/// Keys, certificates, copies of option files and a journal are some 100 kB; a full disk is found before, not during.
const FREE_BYTES_MIN: u64 = 8 * 1024 * 1024;

fn existing(path: &Path, exists: impl Fn(&Path) -> bool) -> PathBuf {
    path.ancestors().find(|dir| exists(dir)).map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

pub fn check(transit: &mut Transit<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, _) in seen.up() {
        let Ok(node) = transit.node(name) else { continue };
        let spec = node.spec().clone();
        let mut dirs = vec![spec.tls_dir.clone(), spec.state_dir.clone()];
        if let Ok(effective) = node.effective()
            && let Some(setting) = effective
                .effective("wsrep_provider_options")
                .or_else(|| effective.effective("wsrep_cluster_address"))
            && let Some(dir) = setting.file.parent()
        {
            dirs.push(dir.to_owned());
        }
        let host = node.host();
        for dir in dirs {
            let there = existing(&dir, |path| {
                host.facts(path).is_ok_and(|facts| facts.is_some_and(|facts| facts.is_dir))
            });
            if !host.writable(&there) {
                problems.push(problem(
                    name,
                    format!("{} cannot be written to", there.display()),
                    "it belongs to another user, or its file system is read-only",
                    "run sealion as a user who may write there, or remount it",
                ));
            }
            match host.free_bytes(&there) {
                Ok(free) if free < FREE_BYTES_MIN => problems.push(problem(
                    name,
                    format!("the disk of {} is full", there.display()),
                    format!("{free} bytes are free, {FREE_BYTES_MIN} are wanted"),
                    "make room, then try again",
                )),
                Ok(_) => {}
                Err(error) => problems.push(problem(
                    name,
                    "free space cannot be seen",
                    error.to_string(),
                    "check the path",
                )),
            }
        }
    }
    problems
}

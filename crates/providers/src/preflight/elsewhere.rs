//! The machine of a node is the one that its server runs on.

use std::path::Path;

use super::{Problem, Seen, problem};
use crate::world::World;

/// Linux: 64 and a line feed.
const HOSTNAME_BYTES_MAX: u64 = 4096;

/// Files are read and written on the machine that the inventory names: it must be the server's.
pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let Ok(Some(here)) = node.host().read(Path::new("/proc/sys/kernel/hostname"), HOSTNAME_BYTES_MAX)
        else {
            continue;
        };
        let here = String::from_utf8_lossy(&here).trim().to_owned();
        let Some(there) = view.variable("hostname").filter(|there| !there.is_empty() && *there != here)
        else {
            continue;
        };
        problems.push(problem(
            name,
            "the server runs on another machine",
            format!("its hostname is {there}, and the files that sealion would write are on {here}"),
            "give the node an ssh in the inventory (docs: reference/inventory, Nodes on other hosts), then plan again",
        ));
    }
    problems
}

//! Whom a server runs as, also while it is down.

use std::path::PathBuf;

use crate::node::ReadNode;

/// Uid and gid for files that the server must read: of its process, else of its data directory. `None`: nobody can say, and
/// files are then left to whoever writes them.
pub fn of_server(node: &mut dyn ReadNode) -> Option<(u32, u32)> {
    let data = datadir(node).and_then(|dir| node.host().facts(&dir).ok().flatten());
    match (node.process(), data) {
        (Some(process), Some(data)) if data.uid != process.uid => Some((process.uid, process.gid)),
        (_, Some(data)) => Some((data.uid, data.gid)),
        (Some(process), None) => Some((process.uid, process.gid)),
        (None, None) => None,
    }
}

/// As its option files give it.
pub fn datadir(node: &mut dyn ReadNode) -> Option<PathBuf> {
    let effective = node.effective().ok()?;
    effective.effective("datadir")?.value.as_ref().map(PathBuf::from)
}

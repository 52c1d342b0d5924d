//! A server that was to join and began a cluster of its own. With the members' state UUID (it was restored from a copy of theirs, for
//! example), what it has written since then looks like theirs: it would be let in by IST, and differ for ever. So the node keeps a note.

use std::path::PathBuf;

use change::StepError;
use model::NodeName;
use server::{GaleraFacts, NodeError, NodeView, WriteNode};

use super::join::Members;
use super::start_log::last_start;
use crate::steps::fail;
use crate::world::World;

const GRASTATE_BYTES_MAX: u64 = 4096;
const NOTE_BYTES_MAX: u64 = 4096;

/// A start, and what one writes until somebody looks.
const LOG_LINES: usize = 5_000;

/// What a view of a cluster of one says in the log.
const ALONE: (&str, &str) = ("New COMPONENT: primary = yes", "memb_num = 1");

/// Whether the last start was Primary by itself, as its log has it. `None`: the log says nothing of that start.
///
/// # Source
/// Seen in the error log of MariaDB 10.11.19 with Galera 26.4.23: each view says "New COMPONENT: primary = yes, bootstrap = no, my_idx = 0,
/// memb_num = 1".
fn log_says_so(tail: &[String]) -> Option<bool> {
    let is_alone = |line: &String| line.contains(ALONE.0) && line.trim_end().ends_with(ALONE.1);
    match last_start(tail) {
        Some(start) => Some(start.iter().any(is_alone)),
        // Of whichever start it is: nothing here has begun a later one.
        None if tail.iter().any(is_alone) => Some(true),
        None => None,
    }
}

/// There from the moment at which it was seen, until it has got the data of the members as a whole.
fn note(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("ran-alone")
}

/// Before it is stopped.
pub fn remember(node: &mut dyn WriteNode, view: &NodeView) -> Result<(), StepError> {
    let (path, dir) = (note(node), node.spec().state_dir.clone());
    let text = format!("uuid: {}\nseqno: {}\n", view.state_uuid(), view.last_committed());
    let host = node.write_host();
    host.make_dir(&dir, 0o700, None)
        .and_then(|()| host.write(&path, text.as_bytes(), Some(0o600), None))
        .map_err(fail)
}

/// It has what the members have.
pub fn forget(node: &mut dyn WriteNode) -> Result<(), StepError> {
    let path = note(node);
    node.write_host().remove(&path).map_err(fail)
}

/// What stands against taking its data for the members', whose state UUID is given, and what to do; `None`: nothing.
///
/// # Errors
/// The note cannot be read.
pub fn stands_against(
    node: &mut dyn WriteNode,
    members_uuid: &str,
) -> Result<Option<(String, String)>, StepError> {
    let path = note(node);
    let marker = super::steps::join::marker(node);
    let (noted, is_known) = match node.host().read(&path, NOTE_BYTES_MAX).map_err(fail)? {
        Some(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), true),
        // Nobody was there to note it: sealion was killed after it had begun to start it.
        None if node.host().facts(&marker).map_err(fail)?.is_some() => {
            match log_says_so(&node.log_tail(LOG_LINES)) {
                Some(false) => return Ok(None),
                said => (String::new(), said.is_some()),
            }
        }
        None => return Ok(None),
    };
    // Of a foreign history it gets the whole data in any case.
    if of_line(&noted, "uuid:").is_some_and(|uuid| uuid != members_uuid) {
        return Ok(None);
    }
    let seqno = of_line(&noted, "seqno:").unwrap_or("?").to_owned();
    let why = if is_known {
        format!(
            "it has run in a cluster of its own, with the state UUID of the members ({members_uuid}), as far as seqno {seqno}: what it has written \
         then is not theirs, and nobody would see that"
        )
    } else {
        format!(
            "whether it has run in a cluster of its own, with the state UUID of the members ({members_uuid}), cannot be determined: sealion was \
             interrupted while it was started, and {}",
            match &node.spec().error_log {
                Some(path) => format!("the end of {} has no start, or cannot be read", path.display()),
                None => "the inventory does not name its error_log".to_owned(),
            }
        )
    };
    let stop = node.spec().service.stop_command().join(" ");
    let Some(dir) = server::owner::datadir(node.reading()) else {
        let next = format!("see that it gets all data of the members, and remove {} there", path.display());
        return Ok(Some((why, next)));
    };
    let grastate = dir.join("grastate.dat");
    let is_down = matches!(node.view(), Err(NodeError::Down { .. }));
    let text = node.host().read(&grastate, GRASTATE_BYTES_MAX).map_err(fail)?;
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    // Without one it asks for the whole data.
    if is_down && of_line(&text, "uuid:").is_none_or(|uuid| uuid != members_uuid) {
        return Ok(None);
    }
    if !is_known {
        let log = if node.spec().error_log.is_some() {
            "look in"
        } else {
            "name it as error_log in the inventory, or look in"
        };
        return Ok(Some((
            why,
            format!(
                "{log} its error log, behind the last start: where a line has \"{}\" and ends with \"{}\", stop it ({stop}) and rm {} (it gets all \
                 data of the members then); where none has, rm {}",
                ALONE.0,
                ALONE.1,
                grastate.display(),
                marker.display()
            ),
        )));
    }
    let first = if is_down { String::new() } else { format!("stop it ({stop}), then ") };
    Ok(Some((
        why,
        format!(
            "save there what it has written, if anybody needs it; {first}rm {}: it gets all data of the members then",
            grastate.display()
        ),
    )))
}

/// Who is down and has run so: nobody starts it but the step that makes it a member, which sees to its data. With what stands against
/// that now.
pub fn kept_out(world: &mut World<'_>) -> Vec<(NodeName, String)> {
    let views = world.views();
    let down: Vec<NodeName> = views
        .iter()
        .filter(|(_, view)| view.as_ref().is_err_and(NodeError::is_down))
        .map(|(name, _)| name.clone())
        .collect();
    let mut kept = Vec::new();
    for name in down {
        let uuid = Members::of(&name, &views).map(|members| members.state_uuid);
        let Ok(node) = world.node(&name) else { continue };
        let path = note(node);
        let Ok(Some(bytes)) = node.host().read(&path, NOTE_BYTES_MAX) else { continue };
        let noted = String::from_utf8_lossy(&bytes).into_owned();
        let uuid = uuid.or_else(|| of_line(&noted, "uuid:").map(str::to_owned)).unwrap_or_default();
        match stands_against(node, &uuid) {
            Ok(None) => {
                kept.push((name, "it has run in a cluster of its own, and is started when it joins".into()));
            }
            Ok(Some((why, next))) => kept.push((name, format!("{why}\n  next: {next}"))),
            Err(error) => kept.push((name, error.0)),
        }
    }
    kept
}

fn of_line<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

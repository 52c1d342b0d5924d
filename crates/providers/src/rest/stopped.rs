//! Between the stop of a server and its start with other keys. Files of a running server do not have what is in its buffer pool only, and
//! somebody may make a table with a key that goes right behind any look at them. Those of a stopped one stay as they are; so they are read
//! then, and only if nothing needs what goes, the option file is written.

use change::{Direction, StepError};
use model::NodeName;
use serde::{Deserialize, Serialize};
use server::{NodeView, PlacesAtRest};

use super::looked::{self, Going};
use crate::steps::fail;
use crate::world::World;

/// Which keys a restart takes from a server, and in which direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedGate {
    pub going: Going,
    pub forward: bool,
    pub back: bool,
}

impl StoppedGate {
    pub fn holds(&self, direction: Direction) -> bool {
        if direction == Direction::Forward { self.forward } else { self.back }
    }
}

/// The way back of an option file that was not written, or was.
pub const fn contrary(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Back,
        Direction::Back => Direction::Forward,
    }
}

/// Before the stop: whether it writes what is in memory only.
///
/// # Source
/// MariaDB manual, innodb_fast_shutdown: 2 and 3 leave dirty pages to recovery.
pub fn may_stop(name: &NodeName, view: &NodeView) -> Result<(), StepError> {
    match view.variable("innodb_fast_shutdown") {
        None | Some("0" | "1") => Ok(()),
        Some(other) => Err(fail(format!(
            "{name} is not stopped to take keys from it\n  why:  innodb_fast_shutdown is {other}: pages that need them may stay in the redo log\n  \
             next: SET GLOBAL innodb_fast_shutdown=1, then sealion resume"
        ))),
    }
}

/// What a stopped server's files say.
pub fn pass(
    world: &mut World<'_>,
    name: &NodeName,
    gate: &StoppedGate,
    places: &PlacesAtRest,
) -> Result<(), StepError> {
    let seen = world.node(name)?.files_at_rest_in(places).map_err(fail)?;
    let odd = looked::need_a_key(&seen, &gate.going);
    if odd.is_empty() {
        world.say(&format!(
            "{name} is stopped, and none of its {} files needs {}",
            seen.artefacts.len(),
            gate.going
        ));
        return Ok(());
    }
    let how = match gate.going {
        Going::AllBut(kept) => format!("ALTER TABLE ... ENCRYPTED=YES ENCRYPTION_KEY_ID={kept} of each"),
        Going::Only(_) => "ALTER TABLE ... ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=DEFAULT of each".into(),
        Going::All => "ALTER TABLE ... ENCRYPTED=NO of each".into(),
    };
    Err(fail(format!(
        "{name} keeps its keys, and is started as it was\n  why:  these came while the change was under way: {}\n  next: {how}, if they are \
         tables (a file of no table: move it away); then sealion resume",
        looked::in_words(&odd)
    )))
}

//! Between the stop of a server and its start with other keys. Files of a running server do not have what is in its buffer pool only, and
//! somebody may make a table with a key that goes right behind any look at them. Those of a stopped one stay as they are; so they are read
//! then, and only if nothing needs what goes, the option file is written.

use std::path::PathBuf;
use std::time::Duration;

use change::{Direction, StepError};
use disk::Kind;
use model::NodeName;
use model::text::counted;
use serde::{Deserialize, Serialize};
use server::{NodeError, NodeView, NotRead, PlacesAtRest};

use super::looked::{self, Going};
use super::steps::Placed;
use crate::edit::FileEdit;
use crate::steps::{fail, write};
use crate::world::World;

/// Which keys a restart takes from a server, and in which direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedGate {
    pub going: Going,
    pub forward: bool,
    pub back: bool,
    /// The keys that the server has behind its way forward, and behind its way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_forward: Option<Placed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_back: Option<Placed>,
}

impl StoppedGate {
    /// A restart from which no key goes, of a server that starts with these again.
    pub fn with(keys: Placed) -> Self {
        let (keys_forward, keys_back) = (Some(keys.clone()), Some(keys));
        Self { going: Going::All, forward: false, back: false, keys_forward, keys_back }
    }

    fn keys(&self, direction: Direction) -> Option<&Placed> {
        if direction == Direction::Forward { self.keys_forward.as_ref() } else { self.keys_back.as_ref() }
    }

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

pub const NOT_RESTARTED: &str = "is not restarted";
pub const KEYS_CHANGED: &str = "was restarted, and its key file was changed meanwhile";

/// Before anything of it is done, and behind it: the keys of the next start are those that were sealed.
pub fn keys_are_as_sealed(
    world: &mut World<'_>,
    name: &NodeName,
    gate: Option<&StoppedGate>,
    direction: Direction,
    then: &str,
) -> Result<(), StepError> {
    match gate.and_then(|gate| gate.keys(direction)) {
        Some(placed) => placed.is_as_sealed(world, name, then),
        None => Ok(()),
    }
}

/// Without a gate the option file is written now, with one behind the stop. Says whether a server is to be started first: it is down and the
/// file was not written, so sealion was killed before its files were read; and where they lie, a running server says.
pub fn is_to_be_started_first(
    world: &mut World<'_>,
    name: &NodeName,
    gate: Option<&StoppedGate>,
    edit: &FileEdit,
    direction: Direction,
) -> Result<bool, StepError> {
    if gate.is_none() {
        write(world, name, edit, direction)?;
        return Ok(false);
    }
    let is_written = edit.stand(world.node(name)?).map_err(StepError)?.is_so(direction);
    Ok(!is_written && matches!(world.node(name)?.view(), Err(NodeError::Down { .. })))
}

/// Starts it for that, with the file as it stands. On the way back this file has the keys that are to go, and a server that does not start
/// with them (their file is damaged; a state transfer brought files of before) can only be started with the others: no file of it was written
/// with the new ones then, or it is encrypted with them: then the tables that cannot be read tell. Says whether that was done.
///
/// # Errors
/// Of the first start; the option file is as it was.
pub fn started_either_way(
    world: &mut World<'_>,
    name: &NodeName,
    edit: &FileEdit,
    direction: Direction,
    start: &dyn Fn(&mut World<'_>, Direction) -> Result<(), StepError>,
) -> Result<bool, StepError> {
    let Err(why) = start(world, contrary(direction)) else { return Ok(false) };
    if direction == Direction::Forward {
        return Err(why);
    }
    world.say(&format!(
        "{name} does not start with the keys that are to go: it is tried with those of before"
    ));
    write(world, name, edit, direction)?;
    if start(world, direction).is_err() {
        write(world, name, edit, contrary(direction))?;
        return Err(why);
    }
    // Its files were not read before: what needs the keys that went is found by this, while they still lie there.
    if !world.accept_unproven {
        reads_all(world, name, "does not start with the others", &|_| false)?;
    }
    Ok(true)
}

/// A gate that the next stop is to pass.
pub struct Ahead<'g> {
    gate: &'g StoppedGate,
    places: PlacesAtRest,
    /// The server removes it when it ends in order.
    pid_file: PathBuf,
    /// What it could not read before, for whatever reason.
    not_read: Vec<NotRead>,
}

/// Before the stop.
///
/// # Source
/// MariaDB manual, innodb_fast_shutdown: 2 and 3 leave dirty pages to recovery. `clean_up` of mysqld.cc removes the pid file last, by which
/// mysqld_safe tells a crash, too.
pub fn ahead<'g>(
    world: &mut World<'_>,
    name: &NodeName,
    gate: Option<&'g StoppedGate>,
    view: &NodeView,
) -> Result<Option<Ahead<'g>>, StepError> {
    let Some(gate) = gate else { return Ok(None) };
    let refuse = |why: String, next: &str| {
        fail(format!(
            "{name} is not stopped to take keys from it\n  why:  {why}\n  next: {next}, then sealion resume"
        ))
    };
    let fast = "SET GLOBAL innodb_fast_shutdown=1";
    match view.variable("innodb_fast_shutdown") {
        Some("0" | "1") => {}
        Some(other) => {
            let why =
                format!("innodb_fast_shutdown is {other}: pages that need them may stay in the redo log");
            return Err(refuse(why, fast));
        }
        None => return Err(refuse("it does not say its innodb_fast_shutdown".into(), fast)),
    }
    let node = world.node(name)?;
    let places = node.places_at_rest().map_err(fail)?;
    let pid_file = places.datadir.join(view.variable("pid_file").unwrap_or_default());
    match node.host().facts(&pid_file) {
        Ok(Some(facts)) if !facts.is_dir => {
            let not_read = node.not_read().map_err(fail)?;
            Ok(Some(Ahead { gate, places, pid_file, not_read }))
        }
        Ok(_) => {
            let why = format!(
                "its pid file {} is not there, so that nothing will tell whether it ended in order",
                pid_file.display()
            );
            Err(refuse(why, "restart it by hand, which writes that file"))
        }
        Err(error) => Err(fail(error)),
    }
}

impl Ahead<'_> {
    /// Behind the stop, before the start: reads the files, and writes the option file as they allow.
    pub fn pass(
        &self,
        world: &mut World<'_>,
        name: &NodeName,
        edit: &FileEdit,
        direction: Direction,
    ) -> Result<(), StepError> {
        let passed = self.holds(world, name);
        let to = if passed.is_ok() { direction } else { contrary(direction) };
        write(world, name, edit, to)?;
        passed
    }

    /// Behind the start with other keys: whether it reads each table that it read before. A table that came to a place which nobody looked at,
    /// or has other bytes under a number that stays, is found by this alone, while the old keys are still there.
    pub fn reads_as_before(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
        let known = |one: &NotRead| self.not_read.iter().any(|before| before.table == one.table);
        reads_all(world, name, "it is started as it was", &known)
    }

    fn holds(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
        if world.node(name)?.host().facts(&self.pid_file).map_err(fail)?.is_some() {
            return Err(fail(format!(
                "{name} keeps its keys, and is started as it was\n  why:  it did not end in order ({} is still there): pages that need them \
                 may be in its redo log only\n  next: see in its error log what ended it; then sealion resume",
                self.pid_file.display()
            )));
        }
        let seen = world.node(name)?.files_at_rest_in(&self.places).map_err(fail)?;
        // The files of one that somebody has started meanwhile are not those that were read.
        if !matches!(world.node(name)?.view(), Err(NodeError::Down { .. })) {
            return Err(fail(format!(
                "{name} keeps its keys\n  why:  somebody has started it while its files were read (a watchdog, Restart= of its unit)\n  \
                 next: keep that from happening for the time of the change, then sealion resume"
            )));
        }
        let going = &self.gate.going;
        let odd = looked::need_a_key(&seen, going);
        let odd = looked::but_accepted(world, name, odd);
        if odd.is_empty() {
            world.say(&format!(
                "{name} is stopped, and none of its {} files needs {going}",
                seen.artefacts.len()
            ));
            return Ok(());
        }
        let how = match going {
            Going::AllBut(kept) => format!("ALTER TABLE ... ENCRYPTED=YES ENCRYPTION_KEY_ID={kept} of each"),
            Going::Only(_) => "ALTER TABLE ... ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=DEFAULT of each".into(),
            Going::All => "ALTER TABLE ... ENCRYPTED=NO of each".into(),
        };
        Err(fail(format!(
            "{name} keeps its keys, and is started as it was\n  why:  these need them, or may: {}\n  next: {}",
            looked::in_words(&odd),
            if odd.iter().all(|one| one.is_unknown) {
                looked::ACCEPT.to_owned()
            } else if odd.iter().any(|one| one.kind != Kind::Table) {
                // Everything of these was written anew before: they came from elsewhere, and the steps that did it are done.
                "sealion undo, and begin again: nothing but that writes these files anew here (a state transfer from a member with other keys brings \
                 them; see that gcache.size holds what is written while a node is down)"
                    .to_owned()
            } else {
                format!("{how}, if they are tables (a file of no table: move it away); then sealion resume")
            }
        )))
    }
}

const LOCKED_TRIES_MAX: u32 = 20;
const LOCKED_AGAIN_MS: u64 = 1_000;

/// Every table gives a row, but those of which `is_known` says why not. One that a session holds is asked again.
pub fn reads_all(
    world: &mut World<'_>,
    name: &NodeName,
    then: &str,
    is_known: &dyn Fn(&NotRead) -> bool,
) -> Result<(), StepError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let node = world.node(name)?;
        let mut left = node.not_read().map_err(fail)?;
        left.retain(|one| !is_known(one));
        let Some(first) = left.iter().find(|one| !one.is_held()).or_else(|| left.first()) else {
            return Ok(());
        };
        if !first.is_held() || tries > LOCKED_TRIES_MAX {
            return Err(fail(format!(
                "{name} cannot read {} with the keys that it has now, and {then}\n  why:  {}: {}\n  next: sealion diagnose {name} says which keys open \
                 it; an Aria table may need REPAIR TABLE when it has them again; then sealion resume, or sealion undo",
                counted(left.len(), "table", "tables"),
                first.table,
                first.why
            )));
        }
        node.wait(Duration::from_millis(LOCKED_AGAIN_MS));
    }
}

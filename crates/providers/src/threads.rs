//! Threads of a replica that a restart leaves stopped: with `skip_slave_start` or `skip_replica_start` a server starts none by itself.
//!
//! What ran is noted on the server before it is stopped, and started again afterwards by whoever continues, forward or back. What its operator
//! had stopped stays stopped.

use std::path::PathBuf;
use std::time::Duration;

use change::StepError;
use model::NodeName;
use serde::{Deserialize, Serialize};
use server::{Channel, ThreadState, Threads, WriteNode};

use crate::steps::fail;
use crate::world::World;

/// A note is a line for each channel.
const NOTE_BYTES_MAX: u64 = 64 * 1024;
const POLL_MS: u64 = 200;
/// Channels connect again within this time.
const CHANNELS_MS_MAX: u64 = 90_000;

/// The threads that ran when their server was stopped.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    change: String,
    channels: Vec<(String, Threads)>,
}

fn place(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("threads.json")
}

fn noted(node: &dyn WriteNode) -> Result<Option<Note>, StepError> {
    let path = place(node);
    let Some(bytes) = node.host().read(&path, NOTE_BYTES_MAX).map_err(fail)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        fail(format!(
            "{} on {} is damaged\n  why:  {error}; it says which replication threads ran before sealion stopped that server\n  next: start \
             those that should run (START REPLICA), remove that file, then sealion resume",
            path.display(),
            node.name()
        ))
    })
}

/// Of this change; an older one is nobody's any more.
fn ours(world: &mut World<'_>, name: &NodeName) -> Result<Option<Note>, StepError> {
    let change = world.plan_id.clone();
    Ok(noted(world.node(name)?)?.filter(|note| note.change == change))
}

/// Whether threads of a server that this change has stopped may still have to be started.
pub fn are_pending(world: &mut World<'_>, name: &NodeName) -> Result<bool, StepError> {
    Ok(ours(world, name)?.is_some())
}

fn ran(channel: &Channel) -> Threads {
    let runs = |state: &ThreadState| *state != ThreadState::Stopped;
    Threads { receiver: runs(&channel.receiver), applier: runs(&channel.applier) }
}

/// Notes which threads run, before their server is stopped. A note of this change stays: what it names was stopped by sealion.
pub fn note(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    if are_pending(world, name)? {
        return Ok(());
    }
    let change = world.plan_id.clone();
    let node = world.node(name)?;
    let channels: Vec<(String, Threads)> =
        node.channels().map_err(fail)?.iter().map(|channel| (channel.name.clone(), ran(channel))).collect();
    if channels.is_empty() {
        return Ok(());
    }
    let note = serde_json::to_vec(&Note { change, channels }).map_err(fail)?;
    let (dir, path) = (node.spec().state_dir.clone(), place(node));
    let host = node.write_host();
    host.make_dir(&dir, 0o700, None).and_then(|()| host.write(&path, &note, Some(0o600), None)).map_err(fail)
}

/// Of a channel of this server, as noted; as it is now, where nothing is.
pub fn to_run(world: &mut World<'_>, name: &NodeName, channel: &Channel) -> Result<Threads, StepError> {
    let note = ours(world, name)?;
    let noted = note.and_then(|note| note.channels.into_iter().find(|(known, _)| *known == channel.name));
    Ok(noted.map_or_else(|| ran(channel), |(_, before)| before))
}

/// Somebody stopped it, and nothing is wrong with it: a thread that failed tells why.
pub fn is_stopped_by_hand(channel: &Channel) -> bool {
    let is_stopped = channel.receiver == ThreadState::Stopped || channel.applier == ThreadState::Stopped;
    is_stopped && channel.receiver_error.is_none() && channel.applier_error.is_none()
}

/// Starts what ran before the restart and does not run since, waits until it receives, and strikes the note out.
///
/// # Errors
/// A channel does not come back; the note stays.
pub fn start_again(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let Some(note) = ours(world, name)? else { return Ok(()) };
    let stopped = |channel: &Channel| {
        let (_, before) = note.channels.iter().find(|(known, _)| *known == channel.name)?;
        let now = ran(channel);
        let threads =
            Threads { receiver: before.receiver && !now.receiver, applier: before.applier && !now.applier };
        (threads.receiver || threads.applier).then_some(threads)
    };
    for channel in world.node(name)?.channels().map_err(fail)? {
        if let Some(line) = started_by_itself(&channel, &note) {
            world.say(&format!("{name}: {line}"));
            world.notes.push(line);
        }
        let Some(threads) = stopped(&channel) else { continue };
        world.node(name)?.start_threads(&channel.name, threads).map_err(|error| {
            fail(format!(
                "{name} was restarted, and its threads of {channel} do not run\n  why:  {error}\n  next: START REPLICA there, then sealion resume"
            ))
        })?;
        world.notes.push(format!("{channel}: its threads were started again"));
    }
    receives_again(world, name, &note)?;
    let node = world.node(name)?;
    let path = place(node);
    node.write_host().remove(&path).map_err(fail)
}

/// Who starts without skip_slave_start starts all threads, also those that somebody had stopped.
fn started_by_itself(channel: &Channel, note: &Note) -> Option<String> {
    let (_, before) = note.channels.iter().find(|(known, _)| *known == channel.name)?;
    let now = ran(channel);
    let is_so = (!before.receiver && now.receiver) || (!before.applier && now.applier);
    is_so.then(|| {
        format!("{channel}: its threads were stopped before the restart, and the server started them")
    })
}

/// What received before the restart receives again.
fn receives_again(world: &mut World<'_>, name: &NodeName, note: &Note) -> Result<(), StepError> {
    let node = world.node(name)?;
    let began = node.now_ms();
    let is_missing = |channel: &Channel| {
        let before = note.channels.iter().find(|(known, _)| *known == channel.name);
        before.is_some_and(|(_, before)| {
            (before.receiver && channel.receiver != ThreadState::Running)
                || (before.applier && channel.applier == ThreadState::Stopped)
        })
    };
    loop {
        let channels = node.channels().map_err(fail)?;
        let Some(idle) = channels.iter().find(|channel| is_missing(channel)) else { return Ok(()) };
        if node.now_ms() - began > CHANNELS_MS_MAX {
            let error = idle.receiver_error.as_deref().or(idle.applier_error.as_deref());
            return Err(fail(format!(
                "{name} does not replicate again after its restart: {idle}\n  why:  {}\n  next: START REPLICA there, then sealion resume",
                error.unwrap_or("one of its threads does not run, and has no error")
            )));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

/// What sealion has stopped on this server and not started again, for people.
pub fn standing(node: &mut dyn WriteNode) -> String {
    match noted(node) {
        Ok(None) => String::new(),
        Ok(Some(note)) => {
            let channels = node.channels().unwrap_or_default();
            let is_stopped = |channel: &&Channel| {
                let before = note.channels.iter().find(|(known, _)| *known == channel.name);
                before.is_some_and(|(_, before)| {
                    let now = ran(channel);
                    (before.receiver && !now.receiver) || (before.applier && !now.applier)
                })
            };
            let stopped: Vec<String> = channels.iter().filter(is_stopped).map(ToString::to_string).collect();
            if stopped.is_empty() {
                return String::new();
            }
            format!(
                "; sealion stopped it, and its threads of {} do not run since, to start them: START REPLICA (MariaDB: START SLAVE)",
                stopped.join(", ")
            )
        }
        Err(error) => {
            format!(
                "; which of its replication threads sealion has stopped is not known ({})",
                error.0.replace('\n', " ")
            )
        }
    }
}

/// What it notes runs again, or nobody continues the change.
pub fn forget(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let node = world.node(name)?;
    let path = place(node);
    node.write_host().remove(&path).map_err(fail)
}

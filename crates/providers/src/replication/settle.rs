//! What comes back by itself after servers were restarted.
//!
//! Replicas whose source was away try again by themselves, each `MASTER_CONNECT_RETRY` seconds.

use std::time::Duration;

use change::StepError;
use model::NodeName;
use server::{Channel, NodeError, ThreadState};

use super::steps::channel::{CONNECTED_MS_MAX, NEEDS_TLS, TLS_FAILED};
use crate::world::World;

const POLL_MS: u64 = 1_000;

/// It has lost its source, or has not reached it yet. One that was stopped, or that its source or itself rejects, does not come back by
/// itself: errors of the client library have numbers from 2000 on, and of these TLS and logins without it are rejections. A Galera node that is
/// on its way answers 1047, "WSREP has not yet prepared node for application use".
fn comes_back(channel: &Channel) -> bool {
    let number = channel.receiver_error.as_ref().and_then(|error| error.split(' ').next());
    channel.receiver == ThreadState::Connecting
        && number.is_none_or(|number| {
            let is_of_client = number.starts_with('2') && number.len() == 4;
            number == "1047" || (is_of_client && ![TLS_FAILED, NEEDS_TLS].contains(&number))
        })
}

/// Waits until each server answers: one that was on its way up, or stalled, when its change was interrupted. One that does not, is told
/// by the steps that need it.
pub fn servers(world: &mut World<'_>) -> Result<(), StepError> {
    let ms_max = world.limits.recover_ms_max;
    let mut began_ms = None;
    for name in world.names() {
        let mut told = false;
        loop {
            let node = world.node(&name)?;
            let began_ms = *began_ms.get_or_insert(node.now_ms());
            let Err(error @ NodeError::Silent { .. }) = node.view() else { break };
            if node.now_ms() - began_ms > ms_max {
                break;
            }
            if !told {
                told = true;
                world.say(&format!("waiting for {}", error.first_line()));
            }
            world.node(&name)?.wait(Duration::from_millis(POLL_MS));
        }
    }
    Ok(())
}

/// Waits until each channel that has lost its source is connected again; returns those that are not, with the reason.
pub fn channels(world: &mut World<'_>) -> Result<Vec<String>, StepError> {
    let mut waiting: Vec<NodeName> = world.names();
    let (mut began_ms, mut told) = (None, false);
    loop {
        let mut open = Vec::new();
        let mut still = Vec::new();
        for name in waiting {
            let node = world.node(&name)?;
            began_ms.get_or_insert(node.now_ms());
            // Who does not answer is told by what needs an answer.
            let channels = node.channels().unwrap_or_default();
            let lost: Vec<&Channel> = channels.iter().filter(|channel| comes_back(channel)).collect();
            open.extend(lost.iter().map(|channel| {
                let why = channel.receiver_error.as_deref().unwrap_or("it has no connection yet");
                format!("{name} does not receive from {channel}: {why}")
            }));
            if !lost.is_empty() {
                still.push(name);
            }
        }
        let Some(first) = still.first().cloned() else { return Ok(open) };
        if !told {
            told = true;
            let replicas = model::text::counted(still.len(), "replica connects", "replicas connect");
            world.say(&format!(
                "{replicas} to its source again, each within its MASTER_CONNECT_RETRY (60 s by default)"
            ));
        }
        let node = world.node(&first)?;
        if node.now_ms() - began_ms.unwrap_or_default() > CONNECTED_MS_MAX {
            return Ok(open);
        }
        node.wait(Duration::from_millis(POLL_MS));
        waiting = still;
    }
}

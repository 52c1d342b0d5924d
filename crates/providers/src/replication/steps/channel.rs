//! A channel connects anew, with TLS or without, from where its applier is.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{Channel, ChannelTls, NodeError, ThreadState, Threads};

use crate::replication::relay::{self, Action};
use crate::steps::{StepKind, fail, only_node, params};
use crate::threads;
use crate::world::World;

pub struct ChannelStep;
pub const CHANNEL: ChannelStep = ChannelStep;

/// A replica that was told to connect anew does so at once, or at its next try after `MASTER_CONNECT_RETRY`, 60 s by default.
pub const CONNECTED_MS_MAX: u64 = 90_000;
const POLL_MS: u64 = 200;
/// Errors that the next try meets again, with the same certificate and the same key that is not there.
pub const TLS_FAILED: &str = "2026";
pub const NEEDS_TLS: &str = "2061";

#[derive(Debug, Serialize, Deserialize)]
pub struct ChannelParams {
    /// Empty: the one without a name.
    pub channel: String,
    pub before: ChannelTls,
    pub after: ChannelTls,
}

impl ChannelParams {
    fn wanted(&self, direction: Direction) -> &ChannelTls {
        if direction == Direction::Forward { &self.after } else { &self.before }
    }
}

fn find(world: &mut World<'_>, name: &NodeName, channel: &str) -> Result<Option<Channel>, NodeError> {
    let node =
        world.node(name).map_err(|error| NodeError::Host { node: name.clone(), why: error.to_string() })?;
    Ok(node.channels()?.into_iter().find(|known| known.name == channel))
}

fn is_at_work(channel: &Channel) -> bool {
    channel.receiver == ThreadState::Running && channel.applier == ThreadState::Running
}

impl StepKind for ChannelStep {
    fn kind(&self) -> &'static str {
        "channel"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: ChannelParams = params(step)?;
        let name = only_node(step)?;
        let Some(channel) = find(world, &name, &wish.channel).map_err(fail)? else {
            return Ok(StepCheck::Blocked(format!(
                "{name} has no channel \"{}\" any more\n  why:  somebody removed it since the plan was made\n  next: sealion abandon, then a new \
                 plan",
                wish.channel
            )));
        };
        let is_so = channel.tls == *wish.wanted(direction);
        // Between STOP and START sealion has stopped it, and goes on.
        if !threads::are_pending(world, &name)? && threads::is_stopped_by_hand(&channel) {
            return Ok(match direction {
                Direction::Back if is_so => {
                    StepCheck::AlreadyDone(format!("{channel} is set so, and its threads are left stopped"))
                }
                Direction::Back => StepCheck::Ready,
                Direction::Forward => StepCheck::Blocked(format!(
                    "{name}: {channel} is not changed
  why:  its threads do not run, and it was not sealion that stopped them: whether it works                      afterwards could not be seen
  next: START REPLICA there, then sealion resume, or sealion undo"
                )),
            });
        }
        if is_so && is_at_work(&channel) {
            return Ok(StepCheck::AlreadyDone(format!("{channel} is set so and receives")));
        }
        Ok(match relay::hold(world, &name, Action::Change(&wish.channel)) {
            Ok(()) => StepCheck::Ready,
            Err(why) => StepCheck::Blocked(why.0),
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: ChannelParams = params(step)?;
        let name = only_node(step)?;
        let channel = find(world, &name, &wish.channel).map_err(fail)?;
        let channel =
            channel.ok_or_else(|| fail(format!("{name} has no channel \"{}\" any more", wish.channel)))?;
        let mut run = threads::to_run(world, &name, &channel)?;
        if !threads::is_stopped_by_hand(&channel) {
            // One that failed is tried again.
            run = Threads { receiver: true, applier: true };
        }
        // The source may have purged more since the pre-check.
        relay::hold(world, &name, Action::Change(&wish.channel))?;
        threads::note(world, &name)?;
        world.node(&name)?.set_channel_tls(&wish.channel, wish.wanted(direction), run).map_err(fail)?;
        threads::forget(world, &name)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: ChannelParams = params(step)?;
        let name = only_node(step)?;
        let wanted = wish.wanted(direction);
        let began = world.node(&name)?.now_ms();
        loop {
            let why = match find(world, &name, &wish.channel) {
                Ok(Some(channel)) if channel.tls != *wanted => {
                    return Err(fail(format!(
                        "{channel} was changed and reads back otherwise: {:?}",
                        channel.tls
                    )));
                }
                Ok(Some(channel)) if is_at_work(&channel) => {
                    let how = if wanted.is_on { "with TLS, and verifies its source" } else { "as before" };
                    return Ok(format!("{channel} receives {how}; it had come to {}", channel.received));
                }
                // As somebody else had it: going back starts nothing that was stopped.
                Ok(Some(channel))
                    if direction == Direction::Back && threads::is_stopped_by_hand(&channel) =>
                {
                    return Ok(format!("{channel} is as before, and its threads are left stopped"));
                }
                // It does not stop by itself for a source that cannot be reached: a wrong certificate stays wrong.
                Ok(Some(Channel { receiver: ThreadState::Stopped, receiver_error: Some(why), .. })) => {
                    return Err(not_connected(&name, &wish.channel, &why));
                }
                Ok(Some(channel)) => channel
                    .receiver_error
                    .or(channel.applier_error)
                    .unwrap_or_else(|| "it has no connection yet, and no error".into()),
                Ok(None) => return Err(fail(format!("{name} has no channel \"{}\" any more", wish.channel))),
                Err(error) => error.first_line(),
            };
            let node = world.node(&name)?;
            let number = why.split(' ').next().unwrap_or_default();
            if [TLS_FAILED, NEEDS_TLS].contains(&number) || node.now_ms() - began > CONNECTED_MS_MAX {
                return Err(not_connected(&name, &wish.channel, &why));
            }
            node.wait(std::time::Duration::from_millis(POLL_MS));
        }
    }
}

fn not_connected(name: &NodeName, channel: &str, why: &str) -> StepError {
    let by = if channel.is_empty() { String::new() } else { format!(" by its channel {channel}") };
    let next = match why.split(' ').next().unwrap_or_default() {
        NEEDS_TLS => format!("{}; then sealion resume", key_of_source(channel)),
        TLS_FAILED => "see whether its source serves a certificate of the CA with the name that the replica connects to (sealion scan HOST); \
                       then sealion resume, or sealion undo"
            .into(),
        "1045" | "3159" => "its source, or its account there, takes no connection like this one (require_secure_transport, REQUIRE of the \
                            account, the password): see there; then sealion resume, or sealion undo"
            .into(),
        _ => "see whether its source can be reached; then sealion resume, or sealion undo".to_owned(),
    };
    StepError(format!("{name} does not receive{by}\n  why:  {why}\n  next: {next}"))
}

/// With which MySQL's replica logs in without TLS, whatever its source remembers.
pub fn key_of_source(channel: &str) -> String {
    let channel = server::replication::quoted(channel);
    format!(
        "there: STOP REPLICA IO_THREAD FOR CHANNEL {channel}; CHANGE REPLICATION SOURCE TO GET_SOURCE_PUBLIC_KEY=1 FOR CHANNEL {channel}; START \
         REPLICA IO_THREAD FOR CHANNEL {channel}"
    )
}

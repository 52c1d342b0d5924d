//! A new binary log is begun, which is written as the options say now. Existing ones stay as they are until they expire, or are purged
//! where a person has said so and every replica has applied them. An undo purges nothing.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::text::counted;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::BinaryLog;

use crate::replication::{Follower, followers, strangers};
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct BinaryLogs;
pub const BINARY_LOGS: BinaryLogs = BinaryLogs;

const POLL_MS: u64 = 500;
/// A replica that has not come so far by then holds the step.
const BEHIND_MS_MAX: u64 = 300_000;
/// A file that a replica is about to leave is removed at the next try.
const TRIES_MAX: u32 = 10;

#[derive(Debug, Serialize, Deserialize)]
pub struct BinaryLogsParams {
    /// Existing ones are purged, on the way forward only.
    pub purges: bool,
    /// In which direction it does so. It is behind the restart that changes how they are written, whichever way that goes: so a plan has the
    /// step twice.
    pub goes_forward: bool,
}

impl BinaryLogsParams {
    fn acts(&self, direction: Direction) -> bool {
        self.goes_forward == (direction == Direction::Forward)
    }

    /// A plan of an older version may have a step that would purge on the way back.
    fn purges(&self, direction: Direction) -> bool {
        self.purges && self.acts(direction) && direction == Direction::Forward
    }
}

/// The number behind the last dot, with what stands before it.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let (base, number) = name.rsplit_once('.')?;
    Some((base, number.parse().ok()?))
}

/// Replicas that have not applied all before `newest`: what one has received and not applied it asks for again when it is restarted (seen on
/// MariaDB 10.11.19 with GTIDs, error 1236). Of those that are not in the inventory nobody can tell, so none may be there.
fn behind(world: &mut World<'_>, name: &NodeName, newest: &str) -> Result<Vec<String>, StepError> {
    let followers = followers(world, name)?;
    let mut behind = Vec::new();
    for Follower { node, channel, is_sure } in &followers {
        let at = channel.applied_log.as_str();
        let has_it = match (numbered(at), numbered(newest)) {
            (Some((of, at)), Some((base, newest))) => of == base && at >= newest,
            _ => false,
        };
        if !is_sure {
            behind.push(format!(
                "whether {node} replicates from it cannot be told: its source is called {}, and it has never been connected",
                channel.source_host
            ));
        } else if !has_it {
            behind.push(format!("{node} has applied up to \"{at}\""));
        }
    }
    behind.extend(strangers(world, name, &followers)?);
    Ok(behind)
}

/// Until every replica has applied all before `newest`. `next`: what helps where one does not.
fn wait_for_replicas(
    world: &mut World<'_>,
    name: &NodeName,
    newest: &str,
    next: &str,
) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let behind = behind(world, name, newest)?;
        if behind.is_empty() {
            return Ok(());
        }
        if world.node(name)?.now_ms() - began > BEHIND_MS_MAX {
            return Err(fail(format!(
                "{name}: binary logs are not purged\n  why:  {}, and the newest one is {newest}\n  next: {next}",
                behind.join(", ")
            )));
        }
        world.node(name)?.wait(Duration::from_millis(POLL_MS));
    }
}

fn logs(world: &mut World<'_>, name: &NodeName) -> Result<Vec<BinaryLog>, StepError> {
    Ok(world.node(name)?.at_rest().map_err(fail)?.binary_logs)
}

impl StepKind for BinaryLogs {
    fn kind(&self) -> &'static str {
        "binary-logs"
    }

    /// Also in the direction in which it does nothing: what was so before is not undone.
    ///
    /// Once the step is begun nothing takes it back: so it is not begun while a replica lags.
    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: BinaryLogsParams = params(step)?;
        if wish.purges(direction) {
            let name = only_node(step)?;
            if let Some(newest) = logs(world, &name)?.pop() {
                let next = "find out why they lag, or add them to the inventory, then sealion resume, or sealion undo";
                wait_for_replicas(world, &name, &newest.name, next)?;
            }
        }
        Ok(StepCheck::Ready)
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: BinaryLogsParams = params(step)?;
        let name = only_node(step)?;
        if !wish.acts(direction) || logs(world, &name)?.is_empty() {
            return Ok(());
        }
        world.node(&name)?.begin_binary_log().map_err(fail)?;
        if !wish.purges(direction) {
            return Ok(());
        }
        let Some(newest) = logs(world, &name)?.pop() else { return Ok(()) };
        let next = "find out why they lag, or add them to the inventory, then sealion resume";
        wait_for_replicas(world, &name, &newest.name, next)?;
        for _ in 0..TRIES_MAX {
            world.node(&name)?.purge_binary_logs(&newest.name).map_err(fail)?;
            if logs(world, &name)?.first().is_none_or(|first| first.name == newest.name) {
                return Ok(());
            }
            world.node(&name)?.wait(Duration::from_millis(POLL_MS));
        }
        Ok(())
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: BinaryLogsParams = params(step)?;
        if !wish.acts(direction) {
            return Ok("no binary log is begun in this direction".into());
        }
        let name = only_node(step)?;
        let logs = logs(world, &name)?;
        let Some((newest, before)) = logs.split_last() else { return Ok("it writes no binary log".into()) };
        let kept = counted(before.len(), "binary log", "binary logs");
        if wish.purges(direction) && !before.is_empty() {
            return Err(fail(format!(
                "{name}: {kept} from before this step are still there\n  why:  a replica reads them (SHOW PROCESSLIST: Binlog Dump)\n  next: sealion \
                 resume removes them when it is done"
            )));
        }
        Ok(match before.first() {
            None => format!("{} is the only one", newest.name),
            Some(first) => format!(
                "{} is new; {kept} from before it, from {} on, stay as they are until they expire, or are purged",
                newest.name, first.name
            ),
        })
    }
}

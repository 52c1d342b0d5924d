//! InnoDB's own threads write every page anew, encrypted or in the clear, while the server serves. The options that say which of both stand
//! in the option file first: a server that is restarted meanwhile goes on in the same direction.

use std::collections::BTreeSet;
use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::Step;
use model::text::counted;
use serde::{Deserialize, Serialize};
use server::at_rest::is_of_full_text;
use server::{AtRest, AtRestSetting, NodeView, Space, TableName, WriteNode};

use super::target;
use crate::edit::{FileEdit, FileStand};
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct Spaces;
pub const SPACES: Spaces = Spaces;

const POLL_MS: u64 = 500;
/// How often a person is told how far it is.
const TELL_MS: u64 = 5_000;
/// Threads that write nothing anew for so long do not go on.
const STUCK_MS: u64 = 120_000;

#[derive(Debug, Serialize, Deserialize)]
pub struct SpacesParams {
    pub edit: FileEdit,
    /// Whether its way forward leads to encrypted pages.
    pub encrypt: bool,
    pub threads: u32,
    /// As the server was set before; they remain so behind its way back.
    pub threads_before: u32,
    pub iops: Option<u32>,
    /// As the server was set.
    pub iops_before: Option<u32>,
}

impl SpacesParams {
    fn threads_after(&self, direction: Direction) -> u32 {
        match (direction, self.encrypt) {
            (Direction::Forward, true) => self.threads,
            // What goes back to encrypted pages had them before; what goes to plain ones has nothing more to do.
            (Direction::Back, _) => self.threads_before,
            (Direction::Forward, false) => 0,
        }
    }
}

fn is_on(view: &NodeView, name: &str) -> bool {
    view.variable(name).is_some_and(|value| value != "OFF")
}

/// Spaces that the threads have still to do with; not those whose tables have a choice of their own, which they leave alone.
fn left(seen: &AtRest, encrypt: bool) -> Vec<&Space> {
    let own: BTreeSet<&TableName> =
        seen.tables.iter().filter(|table| table.own_choice.is_some()).map(|table| &table.name).collect();
    let is_own = |space: &Space| {
        seen.table_of_file(&format!("{}.ibd", space.name)).is_some_and(|table| own.contains(&table))
            || space
                .name
                .split_once('/')
                .is_some_and(|(_, name)| is_of_full_text(name) && !space.is_turning && !own.is_empty())
    };
    let is_done = |space: &&Space| !space.is_turning && space.is_encrypted == encrypt;
    seen.spaces.iter().filter(|space| !is_done(space) && !is_own(space)).collect()
}

/// What changes while they go on.
fn mark(left: &[&Space]) -> Vec<(u32, bool, Option<u16>)> {
    left.iter().map(|space| (space.id, space.is_turning, space.per_mille)).collect()
}

/// Until nothing is left, or nothing moves.
fn wait(node: &mut dyn WriteNode, encrypt: bool, mut tell: impl FnMut(String)) -> Result<(), StepError> {
    let (mut moved_ms, mut told_ms) = (node.now_ms(), node.now_ms());
    let mut last = None;
    loop {
        let seen = node.at_rest().map_err(fail)?;
        let left = left(&seen, encrypt);
        if left.is_empty() {
            return Ok(());
        }
        let now = (
            mark(&left),
            node.view().map_err(fail)?.status("innodb_encryption_rotation_pages_modified").map(str::to_owned),
        );
        if last.as_ref() != Some(&now) {
            last = Some(now);
            moved_ms = node.now_ms();
        }
        let names = || {
            let names: Vec<&str> = left.iter().take(3).map(|space| space.name.as_str()).collect();
            names.join(", ")
        };
        if node.now_ms() - moved_ms > STUCK_MS {
            return Err(fail(format!(
                "{}: the threads of InnoDB do not go on\n  why:  {} left: {}\n  next: see innodb_encryption_threads, the error log and whether \
                 the key is there, then sealion resume or sealion undo",
                node.name(),
                counted(left.len(), "tablespace is", "tablespaces are"),
                names()
            )));
        }
        if node.now_ms() - told_ms > TELL_MS {
            told_ms = node.now_ms();
            let all = seen.spaces.len();
            let how = left.iter().filter_map(|space| space.per_mille).max();
            let how = how
                .map_or_else(String::new, |per_mille| format!(", the furthest of them {} %", per_mille / 10));
            tell(format!(
                "{}: {} of {all} tablespaces done{how}; at work: {}",
                node.name(),
                all - left.len(),
                names()
            ));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

impl StepKind for Spaces {
    fn kind(&self) -> &'static str {
        "spaces"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: SpacesParams = params(step)?;
        let encrypt = target(wish.encrypt, direction);
        let node = world.node(&only_node(step)?)?;
        let stand = wish.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(wish.edit.foreign(node)));
        }
        let view = node.view().map_err(fail)?;
        if encrypt && !is_on(&view, "innodb_encrypt_log") {
            return Ok(StepCheck::Blocked(format!(
                "{}: pages are not encrypted while the redo log is plain\n  why:  innodb_encrypt_log is OFF, and the redo log has what is \
                 written into them\n  next: sealion resume",
                node.name()
            )));
        }
        let is_set =
            ["innodb_encrypt_tables", "aria_encrypt_tables"].iter().all(|name| is_on(&view, name) == encrypt);
        let is_done =
            stand.is_so(direction) && is_set && left(&node.at_rest().map_err(fail)?, encrypt).is_empty();
        Ok(if is_done { StepCheck::AlreadyDone("every tablespace is so".into()) } else { StepCheck::Ready })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: SpacesParams = params(step)?;
        let encrypt = target(wish.encrypt, direction);
        let name = only_node(step)?;
        crate::steps::write(world, &name, &wish.edit, direction)?;
        let World { nodes, others, tell, .. } = &mut *world;
        let node = nodes
            .iter_mut()
            .chain(others)
            .find(|node| *node.name() == name)
            .ok_or_else(|| fail(format!("{name} is in the plan but not in the inventory")))?;
        node.set_at_rest(&AtRestSetting::Aria(encrypt)).map_err(fail)?;
        node.set_at_rest(&AtRestSetting::InnoDb(encrypt)).map_err(fail)?;
        if let Some(iops) = wish.iops {
            node.set_at_rest(&AtRestSetting::RotationIops(iops)).map_err(fail)?;
        }
        node.set_at_rest(&AtRestSetting::Threads(wish.threads.max(1))).map_err(fail)?;
        wait(&mut **node, encrypt, |line| tell(&line))?;
        if let (Some(_), Some(before)) = (wish.iops, wish.iops_before) {
            node.set_at_rest(&AtRestSetting::RotationIops(before)).map_err(fail)?;
        }
        node.set_at_rest(&AtRestSetting::Threads(wish.threads_after(direction))).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: SpacesParams = params(step)?;
        let encrypt = target(wish.encrypt, direction);
        let node = world.node(&only_node(step)?)?;
        let seen = node.at_rest().map_err(fail)?;
        let left = left(&seen, encrypt);
        if let Some(first) = left.first() {
            return Err(fail(format!(
                "{} of its tablespaces are not {}, {} among them: sealion resume",
                left.len(),
                if encrypt { "encrypted" } else { "plain" },
                first.name
            )));
        }
        let word = if encrypt { "encrypted" } else { "decrypted" };
        Ok(format!(
            "the server says that {} are {word}",
            counted(seen.spaces.len(), "tablespace", "tablespaces")
        ))
    }
}

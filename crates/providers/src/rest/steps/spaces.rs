//! InnoDB's own threads write every page anew, encrypted or in the clear, while the server serves. The options that say which of both stand
//! in the option file first: a server that is restarted meanwhile goes on in the same direction.

use std::collections::BTreeSet;
use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::text::counted;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::at_rest::{file_stem, is_of_full_text};
use server::{
    AtRest, AtRestSetting, LiveSettings, NodeView, Rebuild, RotationPages, Space, TableName, WriteNode,
};

use super::{rebuild, target};
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
/// No tablespace is finished for so long before dirty pages are written out.
const FLUSH_MS: u64 = 5_000;
/// And for so long behind that before tables are rebuilt.
const REBUILD_MS: u64 = 20_000;
/// As MariaDB has it where nobody sets it.
const IO_CAPACITY: u32 = 2_000;
/// Of so many pages that are looked at less than one is written anew: most were done before.
const CIRCLES: u64 = 4;

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
    /// As the server was set.
    #[serde(default)]
    pub settings: LiveSettings,
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

pub(super) fn is_on(view: &NodeView, name: &str) -> bool {
    view.variable(name).is_some_and(|value| value != "OFF")
}

/// Spaces that the threads have still to do with; not those whose tables have a choice of their own, which they leave alone.
pub(super) fn left(seen: &AtRest, encrypt: bool) -> Vec<&Space> {
    let chosen = seen.tables.iter().filter(|table| table.own_choice.is_some());
    let own: BTreeSet<&str> = chosen.map(|table| table.file_stem.as_str()).collect();
    let is_own = |space: &Space| {
        file_stem(&format!("{}.ibd", space.name)).is_some_and(|stem| own.contains(stem.as_str()))
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

/// Whether, between two looks, most of what was looked at was done already, or nothing was looked at.
fn go_in_circles(before: RotationPages, now: RotationPages) -> bool {
    let looked_at = now.looked_at.saturating_sub(before.looked_at);
    now.modified.saturating_sub(before.modified).saturating_mul(CIRCLES) <= looked_at
}

/// What is done where the threads go over tablespaces again and again.
///
/// # Source
/// `fil_crypt_rotate_page` leaves a page alone that is dirty, and the tablespace is gone over once more then. Under a writer that never rests
/// some pages always are. Tried on MariaDB 10.11.19: 37 rounds over 300 MB, and done within 2 s once dirty pages were written out fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Help {
    None,
    /// Dirty pages are written out, as fast as the server is allowed to.
    Flush,
    /// Faster.
    FlushFast,
    Rebuild,
}

impl Help {
    /// What comes behind it, where that was not enough.
    const fn next(self) -> Self {
        match self {
            Self::None => Self::Flush,
            Self::Flush => Self::FlushFast,
            Self::FlushFast | Self::Rebuild => Self::Rebuild,
        }
    }
}

/// Whether, and since when, they go in circles.
struct Circles {
    help: Help,
    since_ms: u64,
    pages: Option<RotationPages>,
    left: Vec<u32>,
}

impl Circles {
    const fn new(now_ms: u64) -> Self {
        Self { help: Help::None, since_ms: now_ms, pages: None, left: Vec::new() }
    }

    /// What is to be done now, in addition to what was before.
    fn advance(&mut self, now_ms: u64, pages: Option<RotationPages>, left: Vec<u32>) -> Help {
        let goes_on = match (self.pages, pages) {
            (Some(before), Some(now)) => !go_in_circles(before, now),
            // What is not told is no reason to do anything.
            _ => true,
        };
        let limit_ms = if self.help.next() == Help::Rebuild { REBUILD_MS } else { FLUSH_MS };
        if left != self.left {
            (self.since_ms, self.pages, self.left) = (now_ms, pages, left);
            return Help::None;
        }
        if now_ms.saturating_sub(self.since_ms) < limit_ms {
            return Help::None;
        }
        (self.since_ms, self.pages) = (now_ms, pages);
        if goes_on {
            return Help::None;
        }
        self.help = self.help.next();
        self.help
    }
}

/// Tables whose tablespaces are left, where the server lists them.
fn tables_of(seen: &AtRest, left: &[&Space]) -> Vec<TableName> {
    let by_stem = seen.by_file_stem();
    let of = |space: &&Space| {
        let table = by_stem.get(file_stem(&format!("{}.ibd", space.name))?.as_str()).copied()?;
        (table.engine == "InnoDB").then(|| table.name.clone())
    };
    let tables: BTreeSet<TableName> = left.iter().filter_map(of).collect();
    tables.into_iter().collect()
}

/// Until nothing is left (then there is no table), or tables are to be rebuilt, or nothing moves.
fn wait(
    node: &mut dyn WriteNode,
    encrypt: bool,
    before: &LiveSettings,
    mut tell: impl FnMut(String),
) -> Result<Vec<TableName>, StepError> {
    let (mut moved_ms, mut told_ms) = (node.now_ms(), node.now_ms());
    let mut circles = Circles::new(node.now_ms());
    let mut last = None;
    loop {
        let seen = node.at_rest().map_err(fail)?;
        let left = left(&seen, encrypt);
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let now = (mark(&left), seen.pages.map(|pages| pages.modified));
        if last.as_ref() != Some(&now) {
            last = Some(now);
            moved_ms = node.now_ms();
        }
        let names = || {
            let names: Vec<&str> = left.iter().take(3).map(|space| space.name.as_str()).collect();
            names.join(", ")
        };
        let ids = left.iter().map(|space| space.id).collect();
        match circles.advance(node.now_ms(), seen.pages, ids) {
            Help::None => {}
            help @ (Help::Flush | Help::FlushFast) => {
                let allowed = before.io_capacity_max.as_ref().and_then(|number| number.parse().ok());
                let allowed: u32 = allowed.unwrap_or(IO_CAPACITY);
                let pages_per_s =
                    if help == Help::Flush { allowed } else { allowed.max(IO_CAPACITY).saturating_mul(10) };
                tell(format!(
                    "{}: the threads go over {} again, since pages there are always dirty: up to {pages_per_s} dirty pages a second are \
                     written out until they are done (innodb_io_capacity)",
                    node.name(),
                    names()
                ));
                node.set_at_rest(&AtRestSetting::Flush { pages_per_s }).map_err(fail)?;
            }
            Help::Rebuild => {
                let tables = tables_of(&seen, &left);
                if !tables.is_empty() {
                    return Ok(tables);
                }
            }
        }
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

fn until_done(
    world: &mut World<'_>,
    name: &NodeName,
    encrypt: bool,
    before: &LiveSettings,
) -> Result<(), StepError> {
    loop {
        let World { nodes, others, tell, .. } = &mut *world;
        let node = nodes
            .iter_mut()
            .chain(others)
            .find(|node| node.name() == name)
            .ok_or_else(|| fail(format!("{name} is in the plan but not in the inventory")))?;
        let tables = wait(&mut **node, encrypt, before, |line| tell(&line))?;
        if tables.is_empty() {
            return Ok(());
        }
        // A table that is rebuilt is at once as it is to be.
        for table in tables {
            rebuild::rebuild(world, name, &Rebuild::InPlace(table))?;
        }
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
        let node = world.node(&name)?;
        node.set_at_rest(&AtRestSetting::Aria(encrypt)).map_err(fail)?;
        node.set_at_rest(&AtRestSetting::InnoDb(encrypt)).map_err(fail)?;
        if let Some(iops) = wish.iops {
            node.set_at_rest(&AtRestSetting::RotationIops(iops)).map_err(fail)?;
        }
        node.set_at_rest(&AtRestSetting::Threads(wish.threads.max(1))).map_err(fail)?;
        let waited = until_done(world, &name, encrypt, &wish.settings);
        let node = world.node(&name)?;
        // Also what a kill in the middle has left.
        node.restore_settings(&wish.settings).map_err(fail)?;
        waited?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const fn pages(looked_at: u64, modified: u64) -> RotationPages {
        RotationPages { looked_at, modified }
    }

    #[test]
    fn threads_that_go_on_are_left_alone() {
        let mut circles = Circles::new(0);
        assert_eq!(circles.advance(0, Some(pages(0, 0)), vec![5, 6]), Help::None);
        for second in 1..1000 {
            assert_eq!(
                circles.advance(second * 1000, Some(pages(second * 900, second * 900)), vec![5, 6]),
                Help::None
            );
        }
        // One of two is done: the other has its time anew.
        assert_eq!(circles.advance(1_000_000, Some(pages(900_000, 899_000)), vec![6]), Help::None);
        assert_eq!(circles.advance(1_004_000, Some(pages(990_000, 899_000)), vec![6]), Help::None);
    }

    #[test]
    fn pages_that_are_always_dirty_are_written_out_and_then_their_tables_are_rebuilt() {
        let mut circles = Circles::new(0);
        circles.advance(0, Some(pages(0, 0)), vec![5]);
        assert_eq!(circles.advance(6_000, Some(pages(17_000, 16_800)), vec![5]), Help::None);
        assert_eq!(circles.advance(12_000, Some(pages(80_000, 16_900)), vec![5]), Help::Flush);
        assert_eq!(circles.advance(18_000, Some(pages(180_000, 16_950)), vec![5]), Help::FlushFast);
        assert_eq!(circles.advance(30_000, Some(pages(900_000, 17_000)), vec![5]), Help::None);
        assert_eq!(circles.advance(39_000, Some(pages(990_000, 17_000)), vec![5]), Help::Rebuild);
    }

    #[test]
    fn what_the_server_does_not_count_is_no_reason_to_do_anything() {
        let mut circles = Circles::new(0);
        for second in 0..500 {
            assert_eq!(circles.advance(second * 1000, None, vec![5]), Help::None);
        }
    }
}

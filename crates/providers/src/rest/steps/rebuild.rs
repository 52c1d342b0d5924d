//! What InnoDB's threads leave as it is: tables with a choice of their own, pages that were freed before, undo pages that were freed, Aria
//! tables. Which these are is not asked of the server: its files are read. Each is written anew on its own server alone, one after the
//! other, and an interruption goes on behind the last one.

use change::{Acted, Direction, StepCheck, StepError};
use disk::{DataDirectory, Kind};
use model::text::counted;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{AtRest, OwnChoice, Rebuild, TableName};

use super::target;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct RebuildStep;
pub const REBUILD: RebuildStep = RebuildStep;

/// Undo pages are asked for so often, twice as many each time.
const UNDO_ROUNDS: u32 = 8;
/// Small tables are done many at a time: each part is a record of the journal.
const PART_MS: u64 = 3_000;
const UNDO_BYTES_MIN: u64 = 4 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub struct RebuildParams {
    pub encrypt: bool,
    /// Tables that were made with the contrary, and are left to the server now.
    pub chosen: Vec<TableName>,
    /// In which direction files are written anew. It is behind the threads of InnoDB, whichever way these go: so a plan has the step twice.
    pub goes_forward: bool,
}

impl RebuildParams {
    fn writes_files(&self, direction: Direction) -> bool {
        self.goes_forward == (direction == Direction::Forward)
    }

    /// What the chosen ones are to be.
    fn choice(&self, direction: Direction) -> Option<OwnChoice> {
        match (direction, self.encrypt) {
            (Direction::Forward, _) => None,
            (Direction::Back, true) => Some(OwnChoice::Plain),
            (Direction::Back, false) => Some(OwnChoice::Encrypted),
        }
    }
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    Begun,
    Chosen,
    /// Behind this table.
    Table(String),
    Undo(u32),
}

impl Mark {
    fn of(text: Option<&str>) -> Self {
        match text {
            None => Self::Begun,
            Some("chosen") => Self::Chosen,
            Some(text) => match (text.strip_prefix("table "), text.strip_prefix("undo ")) {
                (Some(table), _) => Self::Table(table.to_owned()),
                (None, Some(round)) => round.parse().map_or(Self::Chosen, Self::Undo),
                _ => Self::Chosen,
            },
        }
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Begun => f.write_str("begun"),
            Self::Chosen => f.write_str("chosen"),
            Self::Table(table) => write!(f, "table {table}"),
            Self::Undo(round) => write!(f, "undo {round}"),
        }
    }
}

/// What of a file is to go: plain pages, or encrypted ones.
fn wrong(one: &disk::Artefact, encrypt: bool) -> u64 {
    if encrypt {
        return one.tally.plain;
    }
    // Copies in the doublewrite buffer are of tables that may stay encrypted, and come again with each of their pages.
    let copies = one.tally.keys.iter().filter(|(key, _)| one.kind == Kind::System && key.id.is_none());
    one.tally.encrypted.saturating_sub(copies.map(|(_, count)| count).sum())
}

/// Tables whose files are not as wished, each once, in the order of their names.
fn to_rebuild(seen: &DataDirectory, said: &AtRest, encrypt: bool, left_alone: &[TableName]) -> Vec<Rebuild> {
    let mut all: Vec<Rebuild> = Vec::new();
    for one in seen.artefacts.iter().filter(|one| wrong(one, encrypt) > 0) {
        let Some(table) = said.table_of_file(&one.path) else { continue };
        if left_alone.contains(&table) {
            continue;
        }
        match one.kind {
            Kind::Table => all.push(Rebuild::InPlace(table)),
            Kind::AriaData | Kind::AriaIndex => all.push(Rebuild::Aria(table)),
            _ => {}
        }
    }
    // As marks of the journal are compared: a schema `a-b` comes before `a` there.
    all.sort_by_key(|one| one.table().to_string());
    all.dedup();
    all
}

/// Undo pages that are not as wished, in bytes, with the files that they are in.
fn undo(seen: &DataDirectory, encrypt: bool) -> (u64, Vec<String>) {
    let mut bytes = 0;
    let mut paths = Vec::new();
    for one in &seen.artefacts {
        if matches!(one.kind, Kind::System | Kind::Undo) && wrong(one, encrypt) > 0 {
            let page = if let disk::Unit::Page { bytes } = one.unit { bytes as u64 } else { 0 };
            bytes += wrong(one, encrypt) * page;
            paths.push(one.path.clone());
        }
    }
    (bytes, paths)
}

/// Tables whose own choice is not changed by this step, and that are as it says: they are somebody's wish of meanwhile.
fn of_own_choice(said: &AtRest, encrypt: bool) -> Vec<TableName> {
    let contrary = if encrypt { OwnChoice::Plain } else { OwnChoice::Encrypted };
    let of = said.tables.iter().filter(|table| table.own_choice == Some(contrary));
    of.map(|table| table.name.clone()).collect()
}

impl RebuildStep {
    /// Goes on with the next table behind `last`; `None`: there is none.
    fn next_table(
        world: &mut World<'_>,
        name: &NodeName,
        encrypt: bool,
        last: Option<&str>,
    ) -> Result<Option<String>, StepError> {
        let known = world.recent.at_rest.take().filter(|(node, _)| node == name);
        let list = if let Some((_, list)) = known {
            list
        } else {
            let said = world.node(name)?.at_rest().map_err(fail)?;
            let left_alone = of_own_choice(&said, encrypt);
            let seen = world.node(name)?.files_at_rest().map_err(fail)?;
            let list = to_rebuild(&seen, &said, encrypt, &left_alone);
            if !list.is_empty() {
                world.say(&format!(
                    "{name}: {} to be written anew, whose files are not as the server says",
                    counted(list.len(), "table is", "tables are")
                ));
            }
            list
        };
        let next =
            list.iter().find(|one| last.is_none_or(|last| one.table().to_string().as_str() > last)).cloned();
        world.recent.at_rest = Some((name.clone(), list));
        let Some(next) = next else { return Ok(None) };
        // Somebody may have dropped it meanwhile.
        let node = world.node(name)?;
        let is_there = node.at_rest().map_err(fail)?.tables.iter().any(|table| table.name == *next.table());
        if is_there {
            world.say(&format!("{name}: {}", next.statement()));
            world.node(name)?.rebuild(&next).map_err(fail)?;
        }
        Ok(Some(next.table().to_string()))
    }
}

impl StepKind for RebuildStep {
    fn kind(&self) -> &'static str {
        "rebuild"
    }

    /// Also in the direction in which it does nothing: what was so before is not undone.
    fn check(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<StepCheck, StepError> {
        Ok(StepCheck::Ready)
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn act_part(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
        mark: Option<&str>,
    ) -> Result<Acted, StepError> {
        let wish: RebuildParams = params(step)?;
        let name = only_node(step)?;
        let began = world.node(&name)?.now_ms();
        let mut at = Mark::of(mark);
        loop {
            let Some(next) = Self::part(world, &wish, &name, direction, at)? else { return Ok(Acted::Whole) };
            let is_enough = world.node(&name)?.now_ms() - began > PART_MS;
            if is_enough || matches!(next, Mark::Chosen | Mark::Undo(_)) {
                return Ok(Acted::Part { mark: next.to_string() });
            }
            at = next;
        }
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: RebuildParams = params(step)?;
        let encrypt = target(wish.encrypt, direction);
        let name = only_node(step)?;
        if !wish.writes_files(direction) {
            let tables = world.node(&name)?.at_rest().map_err(fail)?.tables;
            let choice = wish.choice(direction);
            let mut of_ours = tables.iter().filter(|table| wish.chosen.contains(&table.name));
            if let Some(table) = of_ours.find(|table| table.own_choice != choice) {
                return Err(fail(format!("{name}: {} is not as it was made: sealion resume", table.name)));
            }
            if wish.chosen.is_empty() {
                return Ok("nothing is written anew in this direction".into());
            }
            return Ok(format!("{} as they were made", counted(wish.chosen.len(), "table is", "tables are")));
        }
        let said = world.node(&name)?.at_rest().map_err(fail)?;
        let left_alone = of_own_choice(&said, encrypt);
        let seen = world.node(&name)?.files_at_rest().map_err(fail)?;
        let again = to_rebuild(&seen, &said, encrypt, &left_alone);
        let (bytes, paths) = undo(&seen, encrypt);
        if !again.is_empty() {
            let names: Vec<String> = again.iter().take(3).map(|one| one.table().to_string()).collect();
            return Err(fail(format!(
                "{name}: {} still not as wished: {}\n  next: sealion resume writes them anew",
                counted(again.len(), "table is", "tables are"),
                names.join(", ")
            )));
        }
        let mut note = format!("the files of its tables are {}", if encrypt { "encrypted" } else { "plain" });
        if bytes > 0 {
            note += &format!("; {} bytes of freed undo pages in {} are not", bytes, paths.join(", "));
        }
        if !left_alone.is_empty() {
            let names: Vec<String> = left_alone.iter().take(3).map(ToString::to_string).collect();
            note += &format!(
                "; {} otherwise by a choice of their own, and left alone: {}",
                counted(left_alone.len(), "table is", "tables are"),
                names.join(", ")
            );
        }
        Ok(note)
    }
}

impl RebuildStep {
    /// What comes behind `at`; `None`: it is done.
    fn part(
        world: &mut World<'_>,
        wish: &RebuildParams,
        name: &NodeName,
        direction: Direction,
        at: Mark,
    ) -> Result<Option<Mark>, StepError> {
        let encrypt = target(wish.encrypt, direction);
        Ok(Some(match at {
            Mark::Begun => {
                world.recent.at_rest = None;
                let choice = wish.choice(direction);
                let tables = world.node(name)?.at_rest().map_err(fail)?.tables;
                for table in tables.iter().filter(|table| wish.chosen.contains(&table.name)) {
                    if table.own_choice != choice {
                        let rebuild = Rebuild::Choose(table.name.clone(), choice);
                        world.say(&format!("{name}: {}", rebuild.statement()));
                        world.node(name)?.rebuild(&rebuild).map_err(fail)?;
                    }
                }
                if !wish.writes_files(direction) {
                    return Ok(None);
                }
                Mark::Chosen
            }
            Mark::Chosen => match Self::next_table(world, name, encrypt, None)? {
                Some(table) => Mark::Table(table),
                None => Mark::Undo(0),
            },
            Mark::Table(last) => match Self::next_table(world, name, encrypt, Some(&last))? {
                Some(table) => Mark::Table(table),
                None => Mark::Undo(0),
            },
            Mark::Undo(round) => {
                world.recent.at_rest = None;
                let seen = world.node(name)?.files_at_rest().map_err(fail)?;
                let (bytes, paths) = undo(&seen, encrypt);
                if bytes == 0 || round >= UNDO_ROUNDS {
                    return Ok(None);
                }
                world.say(&format!(
                    "{name}: freed undo pages in {} are written over, round {}",
                    paths.join(", "),
                    round + 1
                ));
                let bytes = bytes.max(UNDO_BYTES_MIN).saturating_mul(1 << round);
                world.node(name)?.renew_undo(bytes).map_err(fail)?;
                Mark::Undo(round + 1)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(path: &str) -> disk::Artefact {
        disk::Artefact {
            path: path.into(),
            named_by: None,
            kind: Kind::Table,
            bytes: 16_384,
            unit: disk::Unit::Page { bytes: 16_384 },
            tally: disk::Tally { plain: 1, ..disk::Tally::default() },
            verdict: disk::Verdict::Plain,
            space_id: None,
            claim: None,
            is_unread: false,
            lies_on: None,
        }
    }

    #[test]
    fn copies_of_pages_of_tables_are_no_undo_pages_of_the_system_tablespace() {
        let key = |id| disk::KeyUse { id, version: Some(1) };
        let mut one = plain("ibdata1");
        one.kind = Kind::System;
        one.tally.encrypted = 14;
        one.tally.keys = [(key(Some(1)), 3), (key(None), 11)].into();
        assert_eq!(wrong(&one, false), 3);
        assert_eq!(wrong(&one, true), 1);
    }

    /// What comes behind a mark is found by its text, so the list is in the order of texts.
    #[test]
    fn no_table_is_passed_over_between_two_marks() {
        let seen = DataDirectory {
            root: "/".into(),
            family: None,
            server_uuid: None,
            artefacts: ["a/t.ibd", "a@002db/t.ibd", "b/t.ibd"].map(plain).to_vec(),
            read_bytes: 0,
            hole_bytes: 0,
        };
        let names: Vec<String> = to_rebuild(&seen, &AtRest::default(), true, &[])
            .iter()
            .map(|one| one.table().to_string())
            .collect();
        assert_eq!(names, ["a-b.t", "a.t", "b.t"]);
    }
}

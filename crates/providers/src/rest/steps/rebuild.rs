//! What InnoDB's threads leave as it is: tables with a choice of their own, pages that were freed before, undo pages that were freed, Aria
//! tables. Which these are is not asked of the server: its files are read. Each is written anew on its own server alone, one after the
//! other, and an interruption goes on behind the last one.

use std::time::Duration;

use change::{Acted, Direction, StepCheck, StepError};
use disk::{DataDirectory, Kind};
use model::text::counted;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::at_rest::{SCRATCH, file_stem};
use server::{AtRest, LiveSettings, OwnChoice, Rebuild, Rebuilt, TableName, UndoRound};

use super::target;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct RebuildStep;
pub const REBUILD: RebuildStep = RebuildStep;

/// Undo pages are asked for so often, twice as many each time.
const UNDO_ROUNDS: u32 = 6;
const TRANSACTIONS_MIN: u32 = 2;
/// From this round on pages of the system tablespace are reached in the other way as well.
const SYSTEM_FROM: u32 = 3;
const SYSTEM_TABLES_MIN: u32 = 4;
/// Small tables are done many at a time: each part is a record of the journal.
const PART_MS: u64 = 3_000;
/// A table that others hold is asked for again after so long, so often.
const HELD_MS: u64 = 10_000;
const HELD_TRIES_MAX: u32 = 24;
/// So many tables or files are named.
const NAMED_MAX: usize = 3;
const UNDO_BYTES_MIN: u64 = 4 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub struct RebuildParams {
    pub encrypt: bool,
    /// Tables that were made with the contrary, and are left to the server now.
    pub chosen: Vec<TableName>,
    /// In which direction files are written anew. It is behind the threads of InnoDB, whichever way these go: so a plan has the step twice.
    pub goes_forward: bool,
    /// As the server was set.
    #[serde(default)]
    pub settings: LiveSettings,
    /// It is not done while freed pages are otherwise: what comes behind it cannot be done then, and the server would wait in the clear.
    #[serde(default)]
    pub is_strict: bool,
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
    // Copies in the doublewrite buffer come again with each page of a table that stays encrypted.
    one.tally.encrypted.saturating_sub(one.tally.copies)
}

/// Which tables are to be written anew, by what their files hold and what the server says of them.
#[derive(Debug, Default)]
struct Work {
    /// Each once, in the order of their names.
    tables: Vec<Rebuild>,
    /// Otherwise by a choice of their own that this step does not change: they are somebody's wish of meanwhile.
    left_alone: Vec<TableName>,
    /// Files that are not as wished, and of no table that the server lists.
    of_none: Vec<String>,
}

fn work(seen: &DataDirectory, said: &AtRest, encrypt: bool) -> Work {
    let contrary = if encrypt { OwnChoice::Plain } else { OwnChoice::Encrypted };
    let by_stem = said.by_file_stem();
    let mut work = Work::default();
    for one in seen.artefacts.iter().filter(|one| wrong(one, encrypt) > 0) {
        let rebuild = match one.kind {
            Kind::Table => Rebuild::InPlace,
            Kind::AriaData | Kind::AriaIndex => Rebuild::Aria,
            _ => continue,
        };
        match file_stem(&one.path).and_then(|stem| by_stem.get(stem.as_str()).copied()) {
            Some(table) if table.own_choice == Some(contrary) => work.left_alone.push(table.name.clone()),
            Some(table) => work.tables.push(rebuild(table.name.clone())),
            None => work.of_none.push(one.path.clone()),
        }
    }
    // As marks of the journal are compared: a schema `a-b` comes before `a` there.
    work.tables.sort_by_key(|one| one.table().to_string());
    work.tables.dedup();
    work.left_alone.sort();
    work.left_alone.dedup();
    work
}

/// Undo pages that are not as wished, in bytes, with the files that they are in.
fn undo(seen: &DataDirectory, encrypt: bool) -> (u64, Vec<String>) {
    undo_in(seen, encrypt, &[Kind::System, Kind::Undo])
}

fn undo_in(seen: &DataDirectory, encrypt: bool, kinds: &[Kind]) -> (u64, Vec<String>) {
    let mut bytes = 0;
    let mut paths = Vec::new();
    for one in &seen.artefacts {
        if kinds.contains(&one.kind) && wrong(one, encrypt) > 0 {
            let page = if let disk::Unit::Page { bytes } = one.unit { bytes as u64 } else { 0 };
            bytes += wrong(one, encrypt) * page;
            paths.push(one.path.clone());
        }
    }
    (bytes, paths)
}

/// What a kill in the middle has left is as it was.
fn settled(world: &mut World<'_>, wish: &RebuildParams, name: &NodeName) -> Result<Option<Mark>, StepError> {
    world.node(name)?.restore_settings(&wish.settings).map_err(fail)?;
    Ok(None)
}

/// Waits for a table that somebody holds by asking again: a statement that waits holds all that come behind it.
pub(super) fn rebuild(world: &mut World<'_>, name: &NodeName, rebuild: &Rebuild) -> Result<(), StepError> {
    world.say(&format!("{name}: {}", rebuild.statement()));
    let mut tries = 0;
    loop {
        let said = world.node(name)?.rebuild(rebuild);
        let said = said.map_err(|error| {
            fail(format!(
                "{name}: {} was not written anew\n  why:  {}: {}\n  next: CHECK TABLE {} says whether a page of it is damaged; restore or drop it, then \
                 sealion resume, or sealion undo",
                rebuild.table(),
                rebuild.statement(),
                error.reason(),
                rebuild.table()
            ))
        })?;
        let Rebuilt::Held { by } = said else { return Ok(()) };
        tries += 1;
        let by = if by.is_empty() {
            "a session that has read it and is not at its end".to_owned()
        } else {
            by.join(", ")
        };
        if tries >= HELD_TRIES_MAX {
            return Err(fail(format!(
                "{name}: {} is held by others, and was not written anew\n  why:  open transactions: {by}\n  next: end them (SHOW PROCESSLIST; \
                 METADATA_LOCK_INFO names who holds it), then sealion resume goes on with this table",
                rebuild.table()
            )));
        }
        world.say(&format!("{name}: {} is held, and is tried again: {by}", rebuild.table()));
        world.node(name)?.wait(Duration::from_millis(HELD_MS));
    }
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
            let seen = world.node(name)?.files_at_rest().map_err(fail)?;
            let said = world.node(name)?.at_rest().map_err(fail)?;
            let list = work(&seen, &said, encrypt).tables;
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
        if let Err(error) = rebuild(world, name, &next) {
            // Somebody may have dropped it meanwhile.
            let tables = world.node(name)?.at_rest().map_err(fail)?.tables;
            if tables.iter().any(|table| table.name == *next.table()) {
                return Err(error);
            }
        }
        Ok(Some(next.table().to_string()))
    }
}

impl RebuildStep {
    /// Freed pages of the system tablespace that no undo comes to.
    fn renew_system(
        world: &mut World<'_>,
        wish: &RebuildParams,
        name: &NodeName,
        round: u32,
    ) -> Result<(), StepError> {
        let tables = SYSTEM_TABLES_MIN << round.min(UNDO_ROUNDS);
        world.say(&format!(
            "{name}: freed pages in the system tablespace are written over by {tables} tables that are made there and dropped, round {} \
             (innodb_file_per_table is OFF while they are made)",
            round + 1
        ));
        let strangers = world.node(name)?.renew_system(tables, &wish.settings).map_err(fail)?;
        if strangers.is_empty() {
            return Ok(());
        }
        let said = world.node(name)?.at_rest().map_err(fail)?;
        let by_stem = said.by_file_stem();
        // They came there because of us.
        for table in strangers.iter().filter_map(|stem| by_stem.get(stem.as_str())) {
            rebuild(world, name, &Rebuild::InPlace(table.name.clone()))?;
        }
        Ok(())
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

    /// Settings that are otherwise while pages are written over, and what they are written over with.
    fn left(&self, world: &mut World<'_>, step: &Step) -> Option<String> {
        let wish: RebuildParams = params(step).ok().filter(|wish: &RebuildParams| wish.goes_forward)?;
        let name = only_node(step).ok()?;
        let node = world.node(&name).ok()?;
        let Ok(view) = node.view() else {
            return Some(format!("{name}: whether InnoDB is set as before cannot be determined"));
        };
        let is = |variable: &str| view.variable(variable).unwrap_or("not there").to_owned();
        let mut left: Vec<String> = (wish.settings.named().into_iter())
            .filter_map(|(variable, before)| Some((variable, before?)))
            .filter(|(variable, before)| view.variable(variable) != Some(*before))
            .map(|(variable, before)| {
                format!("{variable} is {}, and was {before} (SET GLOBAL)", is(variable))
            })
            .collect();
        let is_ours = |table: &server::Table| table.name.schema == SCRATCH;
        match node.at_rest() {
            Ok(said) if said.tables.iter().any(is_ours) => {
                left.push(format!("DROP DATABASE {SCRATCH}, with which pages were written over"));
            }
            Ok(_) => {}
            Err(_) => left.push(format!("whether the schema {SCRATCH} is left cannot be determined")),
        }
        (!left.is_empty()).then(|| format!("{name}: {}", left.join("; ")))
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
        let seen = world.node(&name)?.files_at_rest().map_err(fail)?;
        let said = world.node(&name)?.at_rest().map_err(fail)?;
        let Work { tables: again, left_alone, of_none } = work(&seen, &said, encrypt);
        let (bytes, paths) = undo(&seen, encrypt);
        if !again.is_empty() {
            let names: Vec<String> =
                again.iter().take(NAMED_MAX).map(|one| one.table().to_string()).collect();
            return Err(fail(format!(
                "{name}: {} still not as wished: {}\n  next: sealion resume writes them anew",
                counted(again.len(), "table is", "tables are"),
                names.join(", ")
            )));
        }
        if wish.is_strict && direction == Direction::Forward && bytes > 0 {
            return Err(fail(format!(
                "{name}: {bytes} bytes of freed pages in {} are still not as wished\n  why:  they were not written over in {UNDO_ROUNDS} rounds\n  \
                 next: sealion resume tries it again; or sealion undo",
                paths.join(", ")
            )));
        }
        let mut note = format!("the files of its tables are {}", if encrypt { "encrypted" } else { "plain" });
        if bytes > 0 {
            note += &format!("; {} bytes of freed undo pages in {} are not", bytes, paths.join(", "));
        }
        if !of_none.is_empty() {
            note += &format!(
                "; {} not, and of no table that the server lists: {}",
                counted(of_none.len(), "file is", "files are"),
                of_none.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ")
            );
        }
        if !left_alone.is_empty() {
            let names: Vec<String> = left_alone.iter().take(NAMED_MAX).map(ToString::to_string).collect();
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
                        rebuild(world, name, &Rebuild::Choose(table.name.clone(), choice))?;
                    }
                }
                if !wish.writes_files(direction) {
                    return settled(world, wish, name);
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
            // Whoever resumes wants them tried again.
            Mark::Undo(UNDO_ROUNDS..) if world.recent.renewed.as_ref() != Some(name) => Mark::Undo(0),
            Mark::Undo(round) => {
                world.recent.renewed = Some(name.clone());
                world.recent.at_rest = None;
                let seen = world.node(name)?.files_at_rest().map_err(fail)?;
                let (bytes, paths) = undo(&seen, encrypt);
                if bytes == 0 || round >= UNDO_ROUNDS {
                    return settled(world, wish, name);
                }
                let elsewhere = world.node(name)?.view().map_err(fail)?;
                let elsewhere =
                    elsewhere.variable("innodb_undo_tablespaces").is_some_and(|count| count != "0");
                let in_system = undo_in(&seen, encrypt, &[Kind::System]).0;
                if in_system > 0
                    && (elsewhere || round >= SYSTEM_FROM)
                    && wish.settings.file_per_table.is_some()
                {
                    Self::renew_system(world, wish, name, round)?;
                }
                if in_system == bytes && elsewhere {
                    return Ok(Some(Mark::Undo(round + 1)));
                }
                world.say(&format!(
                    "{name}: freed undo pages in {} are written over, round {}",
                    paths.join(", "),
                    round + 1
                ));
                let bytes = bytes.max(UNDO_BYTES_MIN).saturating_mul(1 << round);
                let round_of = UndoRound { bytes, transactions: TRANSACTIONS_MIN << round.min(4) };
                world.node(name)?.renew_undo(round_of, &wish.settings).map_err(fail)?;
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

    fn table(schema: &str, dir: &str, own_choice: Option<OwnChoice>) -> server::Table {
        server::Table {
            name: TableName { schema: schema.into(), table: "t".into() },
            file_stem: format!("{dir}/t"),
            engine: "InnoDB".into(),
            row_format: "Dynamic".into(),
            own_choice,
            own_key_id: None,
            is_sequence: false,
            bytes: 1,
        }
    }

    #[test]
    fn copies_of_pages_of_tables_are_no_undo_pages_of_the_system_tablespace() {
        let key = |id| disk::KeyUse { id, version: Some(1) };
        let mut one = plain("ibdata1");
        one.kind = Kind::System;
        one.tally.encrypted = 14;
        one.tally.copies = 10;
        one.tally.keys = [(key(Some(1)), 3), (key(None), 11)].into();
        assert_eq!(wrong(&one, false), 4);
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
        let said = AtRest {
            tables: vec![table("a", "a", None), table("a-b", "a@002db", None), table("b", "b", None)],
            ..AtRest::default()
        };
        let names: Vec<String> =
            work(&seen, &said, true).tables.iter().map(|one| one.table().to_string()).collect();
        assert_eq!(names, ["a-b.t", "a.t", "b.t"]);
    }

    #[test]
    fn a_file_that_no_table_owns_is_told_and_a_choice_of_meanwhile_is_left_alone() {
        let seen = DataDirectory {
            root: "/".into(),
            family: None,
            server_uuid: None,
            artefacts: ["d/@1obung.ibd", "d/t.ibd", "d/gone.ibd"].map(plain).to_vec(),
            read_bytes: 0,
            hole_bytes: 0,
        };
        let of = |name: &str, stem: &str, choice| server::Table {
            name: TableName { schema: "d".into(), table: name.into() },
            file_stem: stem.into(),
            ..table("d", "d", choice)
        };
        let tables = vec![of("übung", "d/@1obung", None), of("t", "d/t", Some(OwnChoice::Plain))];
        let work = work(&seen, &AtRest { tables, ..AtRest::default() }, true);
        assert_eq!(work.tables.first().map(|one| one.table().to_string()).as_deref(), Some("d.übung"));
        assert_eq!(
            (work.tables.len(), work.left_alone.len(), work.of_none),
            (1, 1, vec!["d/gone.ibd".into()])
        );
    }
}

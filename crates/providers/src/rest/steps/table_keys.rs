//! Tables of InnoDB are written anew with another key, while they are read and written. They are made to keep that key, whatever the server is
//! set to meanwhile (`ENCRYPTED=YES`), and are let go of again by the same kind of step the other way round: then each says of itself what
//! it said before.
//!
//! Seen on MariaDB 10.11.19: threads and `ALTER TABLE ... FORCE` keep a table's key, `innodb_default_encryption_key_id` is for new tables only.
//! Sequences and the tables behind a full-text index have key 1, whatever their table says: only InnoDB's threads write these anew.

use change::{Acted, Direction, StepCheck, StepError};
use disk::{DataDirectory, Kind};
use model::text::counted;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::at_rest::{file_stem, is_of_full_text};
use server::{AtRest, KeyWish, OwnChoice, Rebuild, TableName};

use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct TableKeys;
pub const TABLE_KEYS: TableKeys = TableKeys;

/// Small tables are done many at a time: each part is a record of the journal.
const PART_MS: u64 = 3_000;
const NAMED_MAX: usize = 3;
/// In the name of a file, behind that of its table (MariaDB 11.7 and newer).
const VECTOR_INDEX: &str = "#i#";

#[derive(Debug, Serialize, Deserialize)]
pub struct TableKeysParams {
    /// The key that they are held on.
    pub key_id: u32,
    /// Whether its way forward leads to it, or away from it.
    pub holds: bool,
    /// Tables that say something of their encryption by themselves, with what they say.
    pub own: Vec<Own>,
}

/// What a table was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    pub table: TableName,
    #[serde(flatten)]
    pub wish: KeyWish,
}

impl TableKeysParams {
    fn holds(&self, direction: Direction) -> bool {
        self.holds == (direction == Direction::Forward)
    }

    /// What a table is to say behind this step.
    fn wish(&self, table: &TableName, direction: Direction) -> KeyWish {
        if self.holds(direction) {
            return KeyWish { choice: Some(OwnChoice::Encrypted), key_id: Some(self.key_id) };
        }
        self.own.iter().find(|own| own.table == *table).map(|own| own.wish).unwrap_or_default()
    }

    /// What a table says by itself that the plan does not know of, and that is lost by holding it.
    fn late_words(&self, seen: &AtRest, table: &TableName, direction: Direction) -> Option<String> {
        let is_known = !self.holds(direction) || self.own.iter().any(|own| own.table == *table);
        let now = seen.tables.iter().find(|one| one.name == *table).filter(|_| !is_known)?;
        let key = now.own_key_id.map(|id| format!("ENCRYPTION_KEY_ID={id}"));
        let choice = now.own_choice.map(|choice| match choice {
            OwnChoice::Encrypted => "ENCRYPTED=YES".to_owned(),
            OwnChoice::Plain => "ENCRYPTED=NO".to_owned(),
        });
        let words: Vec<String> = choice.into_iter().chain(key).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Tables that are not so yet, with what they are to say, in the order of marks.
    fn left(&self, seen: &AtRest, direction: Direction) -> Vec<Rebuild> {
        let held = KeyWish { choice: Some(OwnChoice::Encrypted), key_id: Some(self.key_id) };
        let mut left: Vec<Rebuild> = Vec::new();
        for table in seen.tables.iter().filter(|table| table.engine == "InnoDB" && !table.is_sequence) {
            let now = KeyWish { choice: table.own_choice, key_id: table.own_key_id };
            let is_left = if self.holds(direction) {
                // Who made a table plain wanted it so.
                now != held && table.own_choice != Some(OwnChoice::Plain)
            } else {
                now == held
            };
            if is_left {
                left.push(Rebuild::Key(table.name.clone(), self.wish(&table.name, direction)));
            }
        }
        left.sort_by_key(|one| one.table().to_string());
        left
    }
}

fn named(left: &[Rebuild]) -> String {
    let names: Vec<String> = left.iter().take(NAMED_MAX).map(|one| one.table().to_string()).collect();
    names.join(", ")
}

/// Encrypted tablespaces that belong to no table.
fn of_no_table(files: &DataDirectory, said: &AtRest) -> Vec<String> {
    let by_stem = said.by_file_stem();
    let is_own = |path: &str| match file_stem(path) {
        Some(stem) => by_stem.contains_key(stem.as_str()),
        None => path.rsplit('/').next().is_some_and(is_of_full_text),
    };
    let files = files.artefacts.iter().filter(|one| one.kind == Kind::Table && one.tally.encrypted > 0);
    files.filter(|one| !is_own(&one.path)).map(|one| one.path.clone()).collect()
}

fn seen(world: &mut World<'_>, name: &NodeName) -> Result<AtRest, StepError> {
    world.node(name)?.at_rest().map_err(fail)
}

impl StepKind for TableKeys {
    fn kind(&self) -> &'static str {
        "table-keys"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: TableKeysParams = params(step)?;
        let name = only_node(step)?;
        Ok(if wish.left(&seen(world, &name)?, direction).is_empty() {
            StepCheck::AlreadyDone("every table is so".into())
        } else {
            StepCheck::Ready
        })
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
        let wish: TableKeysParams = params(step)?;
        let name = only_node(step)?;
        let began = world.node(&name)?.now_ms();
        let mut at = mark.map(str::to_owned);
        let all = wish.left(&seen(world, &name)?, direction);
        let behind = all.into_iter().filter(|one| at.as_ref().is_none_or(|at| one.table().to_string() > *at));
        for next in behind.collect::<Vec<_>>() {
            // One at a time, and somebody may have dropped it meanwhile.
            let now = seen(world, &name)?;
            if wish.left(&now, direction).iter().any(|one| one.table() == next.table()) {
                if let Some(words) = wish.late_words(&now, next.table(), direction) {
                    let told = format!(
                        "{name}: {} was made behind the plan with {words}, and will not say so afterwards: ALTER TABLE then, if it is to",
                        next.table()
                    );
                    world.say(&told);
                    world.notes.push(told);
                }
                super::rebuild::rebuild(world, &name, &next)?;
            }
            at = Some(next.table().to_string());
            if world.node(&name)?.now_ms() - began > PART_MS {
                return Ok(Acted::Part { mark: at.unwrap_or_default() });
            }
        }
        Ok(Acted::Whole)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: TableKeysParams = params(step)?;
        let name = only_node(step)?;
        let now = seen(world, &name)?;
        let left = wish.left(&now, direction);
        if !left.is_empty() {
            return Err(fail(format!(
                "{name}: {} not written anew yet: {}\n  next: sealion resume writes them",
                counted(left.len(), "table is", "tables are"),
                named(&left)
            )));
        }
        if wish.holds(direction) {
            let files = world.node(&name)?.files_at_rest().map_err(fail)?;
            let orphans = of_no_table(&files, &now);
            if let Some(first) = orphans.first() {
                // Moving it away would break a table that is there.
                if first.contains(VECTOR_INDEX) {
                    return Err(fail(format!(
                        "{name}: {first} is a vector index, which is not written anew with its table\n  why:  it is a hidden table with the key of before\n  \
                         next: sealion undo; then drop that index, rotate, and make it again"
                    )));
                }
                return Err(fail(format!(
                    "{name}: {} of no table that the server lists, and encrypted: {first}\n  why:  nothing writes such a file anew, and it needs keys that \
                     are to go; a table that cannot be opened is not listed (sealion diagnose {name} says whether keys are why)\n  next: move {} away from \
                     the data directory, or import it; then sealion resume",
                    counted(orphans.len(), "file is", "files are"),
                    if orphans.len() == 1 { "it" } else { "them" }
                )));
            }
        }
        let is_held = |table: &&server::Table| table.own_key_id == Some(wish.key_id);
        let held = now.tables.iter().filter(is_held).count();
        Ok(if wish.holds(direction) {
            format!("{} on key {}", counted(held, "table is", "tables are"), wish.key_id)
        } else {
            "each table says of its encryption what it said when this was planned".into()
        })
    }
}

#[cfg(test)]
mod tests {
    use server::Table;

    use super::*;

    fn table(name: &str, choice: Option<OwnChoice>, key_id: Option<u32>) -> Table {
        Table {
            name: TableName { schema: "d".into(), table: name.into() },
            file_stem: format!("d/{name}"),
            engine: "InnoDB".into(),
            own_choice: choice,
            own_key_id: key_id,
            is_sequence: false,
            row_format: "Dynamic".into(),
            bytes: 1,
        }
    }

    #[test]
    fn tables_are_held_on_a_key_and_let_go_as_they_were() {
        let yes = Some(OwnChoice::Encrypted);
        let before = [
            table("a", None, None),
            table("b", yes, None),
            table("c", yes, Some(2)),
            table("d", Some(OwnChoice::Plain), None),
            Table { is_sequence: true, ..table("s", None, None) },
            Table { engine: "Aria".into(), ..table("x", None, None) },
        ];
        let own = |table: &Table| Own {
            table: table.name.clone(),
            wish: KeyWish { choice: table.own_choice, key_id: table.own_key_id },
        };
        let own: Vec<Own> = before[1..4].iter().map(own).collect();
        let wish = TableKeysParams { key_id: 3, holds: true, own };
        let seen = |tables: &[Table]| AtRest { tables: tables.to_vec(), ..AtRest::default() };
        let statements = |tables: &[Table], direction| {
            let left = wish.left(&seen(tables), direction);
            left.iter().map(Rebuild::statement).collect::<Vec<_>>()
        };
        assert_eq!(
            statements(&before, Direction::Forward),
            ["a", "b", "c"].map(|name| format!("ALTER TABLE `d`.`{name}` ENCRYPTED=YES ENCRYPTION_KEY_ID=3"))
        );
        let mut held = before.to_vec();
        for one in held.iter_mut().take(3) {
            (one.own_choice, one.own_key_id) = (yes, Some(3));
        }
        assert!(statements(&held, Direction::Forward).is_empty());
        let late = seen(&[table("late", yes, Some(2)), table("c", yes, Some(2)), table("e", None, None)]);
        let words = |name: &str, direction| {
            let name = TableName { schema: "d".into(), table: name.into() };
            wish.late_words(&late, &name, direction)
        };
        assert_eq!(words("late", Direction::Forward).as_deref(), Some("ENCRYPTED=YES ENCRYPTION_KEY_ID=2"));
        assert_eq!((words("c", Direction::Forward), words("e", Direction::Forward)), (None, None));
        assert_eq!(words("late", Direction::Back), None);
        // One that came meanwhile says nothing by itself.
        held.push(table("new", yes, Some(3)));
        assert_eq!(
            statements(&held, Direction::Back),
            [
                "ALTER TABLE `d`.`a` ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=DEFAULT",
                "ALTER TABLE `d`.`b` ENCRYPTED=YES ENCRYPTION_KEY_ID=DEFAULT",
                "ALTER TABLE `d`.`c` ENCRYPTED=YES ENCRYPTION_KEY_ID=2",
                "ALTER TABLE `d`.`new` ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=DEFAULT",
            ]
        );
        assert!(statements(&before, Direction::Back).is_empty());
    }
}

//! The tables on the target: made, dropped, and whether both sides still say the same of them.

use std::collections::{BTreeMap, BTreeSet};

use change::StepError;
use net::Client;
use net::sql_text::{name, text};

use super::{Migration, RESUME, asked, fail};
use crate::End;
use crate::code;
use crate::dialect;
use crate::flow::Flow;
use crate::inspect::{self, Table, mark};
use crate::{later, slices, trial};

/// A definition without the next value of its AUTO_INCREMENT column, which goes on while others write.
fn without_next_value(definition: &str) -> String {
    let Some((before, rest)) = definition.split_once(" AUTO_INCREMENT=") else {
        return definition.to_owned();
    };
    before.to_owned() + rest.trim_start_matches(|one: char| one.is_ascii_digit())
}

/// Default character set and collation of a schema.
fn made_as(client: &mut Client, schema: &str, end: End) -> Result<[String; 2], StepError> {
    let rows = client
        .query(&format!(
            "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
            text(schema)
        ))
        .map_err(asked(end))?;
    Ok(["DEFAULT_CHARACTER_SET_NAME", "DEFAULT_COLLATION_NAME"]
        .map(|column| rows.text(0, column).unwrap_or_default().into_owned()))
}

/// The next AUTO_INCREMENT value of each table that has one.
fn next_values(
    client: &mut Client,
    schemas: &[String],
    end: End,
) -> Result<BTreeMap<(String, String), u64>, StepError> {
    if dialect::is_mysql(client) {
        // Else it says what it has said before.
        client.execute("SET SESSION information_schema_stats_expiry = 0").map_err(asked(end))?;
    }
    let within: Vec<String> = schemas.iter().map(|schema| text(schema)).collect();
    let rows = client
        .query(&format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({}) \
             AND AUTO_INCREMENT IS NOT NULL",
            within.join(",")
        ))
        .map_err(asked(end))?;
    let cell = |row: net::RowRef<'_>, at| row.at(at).map(std::borrow::Cow::into_owned);
    Ok(rows
        .iter()
        .filter_map(|row| Some(((cell(row, 0)?, cell(row, 1)?), cell(row, 2)?.parse().ok()?)))
        .collect())
}

/// Whether a table of the target is what the source's would be made as, but for what comes behind the rows.
fn is_made_alike(source: &mut Client, target: &mut Client, table: &Table) -> Result<bool, StepError> {
    if dialect::is_cross(source, target) {
        let shape = |client: &mut Client, end: End| {
            let lines = inspect::shape(client, &table.schema, &table.name).map_err(asked(end))?;
            Ok::<_, StepError>(lines.into_iter().filter(|line| !line.starts_with("KEY ")).collect::<Vec<_>>())
        };
        return Ok(shape(source, End::Source)? == shape(target, End::Target)?);
    }
    let told = |client: &mut Client, end: End| {
        let definition = later::definition(client, table).map_err(asked(end))?;
        Ok::<_, StepError>(later::without_what_comes_later(&without_next_value(&definition)))
    };
    Ok(told(source, End::Source)? == told(target, End::Target)?)
}

impl Migration<'_> {
    /// What of our schemas is on the target: ours, somebody else's.
    pub(super) fn on_target(&self, target: &mut Client) -> Result<(Vec<String>, Vec<String>), StepError> {
        let within: Vec<String> = self.ends.schemas.iter().map(|name| text(name)).collect();
        let rows = target
            .query(&format!(
                "SELECT SCHEMA_NAME, SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({})",
                within.join(",")
            ))
            .map_err(asked(End::Target))?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for row in rows.iter() {
            let name = row.at(0).unwrap_or_default().into_owned();
            let is_ours = row.at(1).is_some_and(|comment| comment == mark(&self.plan_id));
            if is_ours { ours.push(name) } else { theirs.push(name) }
        }
        Ok((ours, theirs))
    }

    pub(super) fn make_tables(&self) -> Result<(), StepError> {
        let (mut source, mut target) = (self.client(End::Source)?, self.client(End::Target)?);
        Self::close(&mut target, End::Target)?;
        let (ours, theirs) = self.on_target(&mut target)?;
        if !theirs.is_empty() {
            return Err(fail(
                "nothing is overwritten",
                format!("the target has {}", theirs.join(", ")),
                RESUME,
            ));
        }
        for schema in &self.ends.schemas {
            let [charset, collation] = made_as(&mut source, schema, End::Source)?;
            let verb = if ours.contains(schema) { "ALTER" } else { "CREATE" };
            target
                .execute(&format!(
                    "{verb} DATABASE {} CHARACTER SET {} COLLATE {} COMMENT {}",
                    name(schema),
                    name(&charset),
                    name(&collation),
                    text(&mark(&self.plan_id))
                ))
                .map_err(asked(End::Target))?;
        }
        for table in self.tables()? {
            let rows =
                source.query(&format!("SHOW CREATE TABLE {}", table.quoted())).map_err(asked(End::Source))?;
            let made = rows.first().and_then(|row| row.at(1)).unwrap_or_default().into_owned();
            let made = if dialect::is_mysql(&source) {
                dialect::for_mariadb(&made).map_err(|why| {
                    fail(&format!("{}.{} cannot be made", table.schema, table.name), why, RESUME)
                })?
            } else {
                made
            };
            let made = if slices::is_cut(&table, self.ends.slice_bytes) {
                later::without_indexes(&made, &table)
            } else {
                made
            };
            let Some(rest) = made.strip_prefix("CREATE TABLE ") else {
                return Err(fail("a table cannot be made", format!("the source says: {made}"), RESUME));
            };
            target.execute(&format!("USE {}", name(&table.schema))).map_err(asked(End::Target))?;
            target.execute(&format!("CREATE TABLE IF NOT EXISTS {rest}")).map_err(|error| {
                fail(&format!("{}.{} cannot be made", table.schema, table.name), error.in_one_line(), RESUME)
            })?;
        }
        self.make_code()
    }

    /// Tables with rows of an earlier try of this migration that are defined as the source's are; all else of it goes, if there are any.
    pub(super) fn keep_begun(&self) -> Result<BTreeSet<String>, StepError> {
        let (mut source, mut target) = (self.client(End::Source)?, self.client(End::Target)?);
        let (ours, _) = self.on_target(&mut target)?;
        let there = inspect::tables(&mut target, &ours).map_err(asked(End::Target))?;
        let here = self.tables()?;
        let (mut begun, mut others) = (BTreeSet::new(), Vec::new());
        for table in &there {
            let one = here.iter().find(|one| one.quoted() == table.quoted());
            let is_same = match one {
                Some(one) => is_made_alike(&mut source, &mut target, one)?,
                None => false,
            };
            let some = format!("SELECT 1 FROM {} LIMIT 1", table.quoted());
            if is_same && !target.query(&some).map_err(asked(End::Target))?.is_empty() {
                begun.insert(table.quoted());
            } else {
                others.push(table.quoted());
            }
        }
        if begun.is_empty() {
            return Ok(begun);
        }
        // Triggers must not fire for what is copied now, and what the source has no more must go.
        for item in code::all(&mut target, &ours).map_err(asked(End::Target))? {
            target.execute(&item.gone()).map_err(asked(End::Target))?;
        }
        for table in others {
            target.execute(&format!("DROP TABLE {table}")).map_err(asked(End::Target))?;
        }
        Ok(begun)
    }

    /// Values that the source has given out are not given out again, also where the row never came: a rollback, a row that was deleted.
    pub(super) fn raise_next_values(
        &self,
        source: &mut Client,
        target: &mut Client,
    ) -> Result<(), StepError> {
        let here = next_values(source, &self.ends.schemas, End::Source)?;
        let there = next_values(target, &self.ends.schemas, End::Target)?;
        for (table, next) in here {
            if there.get(&table).is_none_or(|has| *has < next) {
                let (schema, table) = table;
                target
                    .execute(&format!("ALTER TABLE {}.{} AUTO_INCREMENT={next}", name(&schema), name(&table)))
                    .map_err(asked(End::Target))?;
            }
        }
        Ok(())
    }

    /// Nothing of the migration is to be taken back any more: schemas have the comments of the source.
    pub(super) fn sign_off(&self) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let (ours, _) = self.on_target(&mut target)?;
        if ours.is_empty() {
            return Ok(());
        }
        let mut source = self.client(End::Source)?;
        for schema in ours {
            let comment = if dialect::is_mysql(&source) {
                String::new()
            } else {
                let rows = source
                    .query(&format!(
                        "SELECT SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
                        text(&schema)
                    ))
                    .map_err(asked(End::Source))?;
                rows.scalar().map(std::borrow::Cow::into_owned).unwrap_or_default()
            };
            // The way back has written the mark there as well.
            let comment = if comment == mark(&self.plan_id) { String::new() } else { comment };
            target
                .execute(&format!("ALTER DATABASE {} COMMENT {}", name(&schema), text(&comment)))
                .map_err(asked(End::Target))?;
        }
        Ok(())
    }

    pub(super) fn drop_schemas(&self) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let (ours, _) = self.on_target(&mut target)?;
        // Where applications write to the target, a copy of this journal that is of before does not know it.
        if !ours.is_empty()
            && !self.was_read_only[0]
            && super::is_read_only(&mut self.client(End::Source)?, End::Source)?
        {
            return Err(fail(
                "what is on the target is not dropped",
                "the source is read-only, so that applications may write to the target: this state directory does not know of that",
                "use the state directory of the migration that has cut over; or, if nobody writes to the target, SET GLOBAL read_only = OFF on the \
                 source, and try it again",
            ));
        }
        // Whoever follows the target keeps its own.
        target.execute("SET SESSION sql_log_bin = 0").map_err(asked(End::Target))?;
        for schema in ours {
            target.execute(&format!("DROP DATABASE {}", name(&schema))).map_err(asked(End::Target))?;
        }
        Ok(())
    }

    pub(super) fn drop_tables(&self) -> Result<(), StepError> {
        self.drop_schemas()?;
        let mut target = self.client(End::Target)?;
        trial::forget(&mut target, End::Target)?;
        // The end of a copy from MySQL has set it up.
        let forward = self.ends.forward();
        if forward.is_set_up()? {
            forward.stop()?;
        }
        if self.ends.back.is_some() {
            trial::forget(&mut self.client(End::Source)?, End::Source)?;
        }
        target.execute("SET GLOBAL gtid_slave_pos = ''").map_err(asked(End::Target))?;
        Ok(())
    }
}

impl Flow<'_> {
    pub(super) fn same_tables(&self, follower: &mut Client, tables: &[Table]) -> Result<(), StepError> {
        let there = inspect::tables(follower, &self.ends.schemas).map_err(asked(self.to))?;
        let names = |all: &[Table]| all.iter().map(Table::quoted).collect::<std::collections::BTreeSet<_>>();
        let (here, there) = (names(tables), names(&there));
        let Some(one) = here.symmetric_difference(&there).next() else { return Ok(()) };
        let only = if here.contains(one) { self.from } else { self.to };
        Err(fail(
            &format!("the {} has other tables than the {}", self.to, self.from),
            format!("{one} is on the {only} only: it was made, dropped or renamed meanwhile"),
            RESUME,
        ))
    }

    /// What new tables become on either.
    fn same_schemas(&self, leader: &mut Client, follower: &mut Client) -> Result<(), StepError> {
        for schema in &self.ends.schemas {
            let here = made_as(leader, schema, self.from)?;
            let there = made_as(follower, schema, self.to)?;
            if here != there {
                return Err(fail(
                    &format!("the schema {schema} has another default character set on the {}", self.to),
                    format!("{}: {}; {}: {}", self.from, here.join(" "), self.to, there.join(" ")),
                    &format!(
                        "ALTER DATABASE {} CHARACTER SET {} COLLATE {} there, with SET SESSION sql_log_bin = 0, and try again",
                        name(schema),
                        here[0],
                        here[1]
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The definition of every table, as both sides tell it.
    pub(super) fn same_definitions(
        &self,
        leader: &mut Client,
        follower: &mut Client,
        tables: &[Table],
    ) -> Result<(), StepError> {
        let problems = inspect::cannot_move(leader, &self.ends.schemas).map_err(asked(self.from))?;
        if let Some(first) = problems.first() {
            return Err(fail(
                &format!("something was made on the {} that does not move", self.from),
                &first.what,
                &first.next,
            ));
        }
        if let Some(problem) =
            inspect::of_both(leader, follower, &self.ends.schemas).map_err(asked(self.to))?
        {
            return Err(fail(&problem.what, &problem.why, &problem.next));
        }
        self.same_schemas(leader, follower)?;
        self.same_tables(follower, tables)?;
        for table in tables {
            let sql = format!("SHOW CREATE TABLE {}", table.quoted());
            let told = |client: &mut Client, end: End| -> Result<String, StepError> {
                let rows = client.query(&sql).map_err(asked(end))?;
                let told = without_next_value(&rows.first().and_then(|row| row.at(1)).unwrap_or_default());
                Ok(told.lines().map(dialect::with_invisible_last).collect::<Vec<_>>().join("\n"))
            };
            let (here, there) = if dialect::is_cross(leader, follower) {
                let shape = |client: &mut Client, end: End| {
                    let lines = inspect::shape(client, &table.schema, &table.name).map_err(asked(end))?;
                    Ok::<_, StepError>(lines.join("\n"))
                };
                (shape(leader, self.from)?, shape(follower, self.to)?)
            } else {
                (told(leader, self.from)?, told(follower, self.to)?)
            };
            if here != there {
                let differs = here.lines().zip(there.lines()).find(|(one, other)| one != other);
                let (one, other) = differs.unwrap_or((&here, &there));
                return Err(fail(
                    &format!("{}.{} is defined otherwise on the {}", table.schema, table.name, self.to),
                    format!("{}: {}; {}: {}", self.from, one.trim(), self.to, other.trim()),
                    "sealion migrate rollback, and migrate again while nobody changes tables",
                ));
            }
        }
        if dialect::is_mysql(leader) {
            return Ok(());
        }
        let differs = code::difference(leader, follower, &self.ends.schemas).map_err(asked(self.to))?;
        differs.map_or(Ok(()), |which| {
            Err(fail(
                "a view, routine, trigger or event is not the same on both",
                which,
                "sealion migrate rollback, and migrate again while nobody changes them",
            ))
        })
    }
}

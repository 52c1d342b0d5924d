//! What a session sends: sysbench 1.0's workloads, statement by statement, so that numbers can be compared.
//!
//! A workload is a list of [`Action`]s that one event (sysbench's word; mostly a transaction) runs through. New ones are a
//! row of [`WORKLOADS`]; new kinds of statement a variant of [`Family`].

use std::io::Write as _;

use wire::WireError;
use wire::prepared::{Parameter, append_execute, append_query};

use super::random::{C_BYTES, Distribution, PAD_BYTES, fill_digits};
use super::user_script::Template;

/// Of one statement of `bulk_insert`: sysbench's `BULK_PACKET_SIZE` (`src/db_driver.c`).
const BULK_BYTES: usize = 512 * 1024;

/// Sizes and counts; the names and defaults are those of sysbench 1.0's OLTP scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub tables: u32,
    pub table_size: u32,
    pub range_size: u32,
    pub point_selects: u32,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
    pub range_selects: bool,
    pub skip_trx: bool,
    /// All statements go as text (`COM_QUERY`): sysbench's `--db-ps-mode=disable`.
    pub is_text: bool,
    pub distribution: Distribution,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tables: 1,
            table_size: 10_000,
            range_size: 100,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            range_selects: true,
            skip_trx: false,
            is_text: false,
            distribution: Distribution::default(),
        }
    }
}

/// sysbench's three kinds of query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// BEGIN, COMMIT.
    Other,
}

/// One kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Begin,
    Commit,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    /// Of the id that was deleted just before.
    Insert,
    /// In text, with an id of the server's.
    InsertText,
    /// As many rows as a statement of [`BULK_BYTES`] takes, in text, into the connection's own table.
    Bulk,
    /// A whole table.
    Stream,
    /// The statement of the user's own that stands at that place.
    Own,
    /// One of them, by chance.
    OwnByChance,
}

impl Family {
    /// With `{}` for the number of the table.
    fn sql(self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::PointSelect => "SELECT c FROM sbtest{} WHERE id=?",
            Self::SimpleRange => "SELECT c FROM sbtest{} WHERE id BETWEEN ? AND ?",
            Self::SumRange => "SELECT SUM(k) FROM sbtest{} WHERE id BETWEEN ? AND ?",
            Self::OrderRange => "SELECT c FROM sbtest{} WHERE id BETWEEN ? AND ? ORDER BY c",
            Self::DistinctRange => "SELECT DISTINCT c FROM sbtest{} WHERE id BETWEEN ? AND ? ORDER BY c",
            Self::IndexUpdate => "UPDATE sbtest{} SET k=k+1 WHERE id=?",
            Self::NonIndexUpdate => "UPDATE sbtest{} SET c=? WHERE id=?",
            Self::Delete => "DELETE FROM sbtest{} WHERE id=?",
            Self::Insert => "INSERT INTO sbtest{} (id, k, c, pad) VALUES (?, ?, ?, ?)",
            Self::InsertText => "INSERT INTO sbtest{} (id, k, c, pad) VALUES (0, ",
            Self::Stream => "SELECT * FROM sbtest{}",
            Self::Bulk | Self::Own | Self::OwnByChance => "",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Begin | Self::Commit => Kind::Other,
            Self::PointSelect
            | Self::SimpleRange
            | Self::SumRange
            | Self::OrderRange
            | Self::DistinctRange
            | Self::Stream => Kind::Read,
            // The statement itself knows better: [`Script::kind`].
            Self::IndexUpdate
            | Self::NonIndexUpdate
            | Self::Delete
            | Self::Insert
            | Self::InsertText
            | Self::Bulk
            | Self::Own
            | Self::OwnByChance => Kind::Write,
        }
    }

    fn is_prepared(self) -> bool {
        !matches!(self, Self::InsertText | Self::Bulk | Self::Stream | Self::Own | Self::OwnByChance)
    }

    fn is_of_a_table(self) -> bool {
        // The connection's own is written where it is sent.
        !matches!(self, Self::Begin | Self::Commit | Self::Bulk)
    }

    /// How often it is sent in one event.
    fn times(self, options: &Options) -> u32 {
        let ranges = |count| if options.range_selects { count } else { 0 };
        match self {
            Self::Begin | Self::Commit => u32::from(!options.skip_trx),
            Self::PointSelect => options.point_selects,
            Self::SimpleRange => ranges(options.simple_ranges),
            Self::SumRange => ranges(options.sum_ranges),
            Self::OrderRange => ranges(options.order_ranges),
            Self::DistinctRange => ranges(options.distinct_ranges),
            Self::IndexUpdate => options.index_updates,
            Self::NonIndexUpdate => options.non_index_updates,
            Self::Delete | Self::Insert => options.delete_inserts,
            Self::InsertText | Self::Bulk | Self::Stream | Self::Own | Self::OwnByChance => 1,
        }
    }
}

/// A workload by name.
#[derive(Debug)]
pub struct Workload {
    pub name: &'static str,
    pub about: &'static str,
    families: &'static [Family],
    /// One point select in an event, whatever the options say.
    is_one_point: bool,
}

const fn workload(name: &'static str, about: &'static str, families: &'static [Family]) -> Workload {
    Workload { name, about, families, is_one_point: false }
}

const READS: [Family; 5] =
    [Family::PointSelect, Family::SimpleRange, Family::SumRange, Family::OrderRange, Family::DistinctRange];

pub const WORKLOADS: &[Workload] = &[
    Workload {
        is_one_point: true,
        ..workload("oltp_point_select", "one row by its primary key", &[Family::PointSelect])
    },
    workload(
        "oltp_read_only",
        "ten point selects and four ranges in a transaction",
        &[Family::Begin, READS[0], READS[1], READS[2], READS[3], READS[4], Family::Commit],
    ),
    workload(
        "oltp_write_only",
        "two updates, a delete and an insert in a transaction",
        &[
            Family::Begin,
            Family::IndexUpdate,
            Family::NonIndexUpdate,
            Family::Delete,
            Family::Insert,
            Family::Commit,
        ],
    ),
    workload(
        "oltp_read_write",
        "both in one transaction",
        &[
            Family::Begin,
            READS[0],
            READS[1],
            READS[2],
            READS[3],
            READS[4],
            Family::IndexUpdate,
            Family::NonIndexUpdate,
            Family::Delete,
            Family::Insert,
            Family::Commit,
        ],
    ),
    workload("oltp_update_index", "one update of an indexed column", &[Family::IndexUpdate]),
    workload("oltp_update_non_index", "one update of another column", &[Family::NonIndexUpdate]),
    workload("oltp_delete", "one delete by primary key", &[Family::Delete]),
    workload("oltp_insert", "one insert, in text", &[Family::InsertText]),
    workload("bulk_insert", "one insert of 512 KiB into a connection's own table", &[Family::Bulk]),
    workload("stream", "a whole table, with SELECT *", &[Family::Stream]),
];

/// One statement of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    family: Family,
    /// The first of its family: it draws the table for all of them.
    draws_table: bool,
    /// Where its statements begin, one for each table.
    statement: u32,
}

/// A workload with its options: what to prepare, and what an event is.
#[derive(Debug, Clone)]
pub struct Script {
    /// What each session prepares, in the order of their numbers; or what it sends, where [`Options::is_text`] says so.
    pub statements: Vec<String>,
    /// What is sent in text, one for each table.
    texts: Vec<String>,
    own: Vec<Template>,
    /// Of a mix, for each statement: its weight and those of all before it together.
    chances: Vec<u64>,
    pub actions: Vec<Action>,
    options: Options,
}

/// A statement of [`Script::statements`] in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// `None`: the server does not prepare it, and it goes as text.
    pub id: Option<u32>,
    /// The types of its parameters were sent.
    pub is_typed: bool,
}

/// What an event under way has drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    table: u32,
    id: u32,
    /// Not of the event: of the connection.
    bulk: Bulk,
}

/// Where a connection's `bulk_insert` is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bulk {
    /// From 0, of the table that no other connection writes to.
    pub connection: u32,
    /// Of the next row.
    pub next_id: u32,
}

impl Event {
    pub fn first(bulk: Bulk) -> Self {
        Self { bulk, ..Self::default() }
    }

    /// A new one on the same connection.
    #[must_use]
    pub fn next(self) -> Self {
        Self { bulk: self.bulk, ..Self::default() }
    }
}

impl Script {
    /// `None`: there is no such workload.
    pub fn of(name: &str, options: &Options) -> Option<Self> {
        let workload = WORKLOADS.iter().find(|workload| workload.name == name)?;
        let mut options = options.clone();
        if workload.is_one_point {
            options.point_selects = 1;
        }
        let (mut statements, mut texts, mut actions) = (Vec::new(), Vec::new(), Vec::new());
        let mut pair = None;
        for &family in workload.families {
            let times = family.times(&options);
            if times == 0 {
                continue;
            }
            let list: &mut Vec<String> = if family.is_prepared() { &mut statements } else { &mut texts };
            let statement = u32::try_from(list.len()).unwrap_or(u32::MAX);
            let tables = if family.is_of_a_table() { options.tables } else { 1 };
            list.extend((1..=tables).map(|table| family.sql().replace("{}", &table.to_string())));
            let action = Action { family, draws_table: false, statement };
            match family {
                // They come in pairs: each insert puts back what was deleted.
                Family::Delete if workload.families.contains(&Family::Insert) => pair = Some(action),
                Family::Insert => {
                    let delete = pair.take();
                    for time in 0..times {
                        let first = delete.map(|delete| Action { draws_table: time == 0, ..delete });
                        actions.extend(first.into_iter().chain([action]));
                    }
                }
                _ => actions.extend((0..times).map(|time| Action { draws_table: time == 0, ..action })),
            }
        }
        Some(Self { statements, texts, own: vec![], chances: vec![], actions, options })
    }

    /// All of them in order are an event.
    pub fn own(templates: Vec<Template>, options: &Options) -> Self {
        let action = |statement| Action { family: Family::Own, draws_table: statement == 0, statement };
        let count = u32::try_from(templates.len()).unwrap_or(u32::MAX);
        Self {
            statements: vec![],
            texts: vec![],
            own: templates,
            chances: vec![],
            actions: (0..count).map(action).collect(),
            options: options.clone(),
        }
    }

    /// One of them, drawn by chance and weight, is an event: the mix of a log.
    pub fn mix(templates: Vec<Template>, options: &Options) -> Self {
        let action = Action { family: Family::OwnByChance, draws_table: true, statement: 0 };
        let sum = |sum: &mut u64, one: &Template| {
            *sum = sum.saturating_add(one.weight);
            Some(*sum)
        };
        let chances = templates.iter().scan(0, sum).collect();
        Self { actions: vec![action], chances, ..Self::own(templates, options) }
    }

    /// What mysqldump sends with `--single-transaction`, from its first statement to its last: the whole schema is an event.
    pub fn dump(options: &Options) -> Self {
        let mut all = vec![
            Template::plain("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
            Template::plain("START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */"),
        ];
        for table in 1..=options.tables {
            all.push(Template::plain(&format!("SHOW CREATE TABLE sbtest{table}")));
            all.push(Template::plain(&format!("SELECT /*!40001 SQL_NO_CACHE */ * FROM sbtest{table}")));
        }
        all.push(Template::plain("ROLLBACK"));
        let mut script = Self::own(all, options);
        // The first one sets something of its own session.
        if let Some(first) = script.own.first_mut() {
            first.kind = Kind::Other;
        }
        script
    }

    /// `number` as it came back from [`Script::write`].
    pub fn kind(&self, action: Action, number: usize) -> Kind {
        match action.family {
            Family::Own | Family::OwnByChance => self.own.get(number).map_or(Kind::Write, |one| one.kind),
            family => family.kind(),
        }
    }

    /// Does the server prepare what such an action sends, if it can?
    pub fn is_prepared(&self, action: Action) -> bool {
        !self.options.is_text && action.family.is_prepared()
    }

    /// Each session prepares these; none where all goes as text.
    pub fn prepares(&self) -> bool {
        !self.options.is_text
    }

    /// That its statements draw one of.
    pub fn tables(&self) -> u32 {
        self.options.tables.max(1)
    }

    /// The largest id that its statements look for; `None` where they look for none.
    pub fn draws_ids_to(&self) -> Option<u32> {
        let draws = |action: &Action| {
            !matches!(
                action.family,
                Family::Begin
                    | Family::Commit
                    // What it deletes is not there the next time.
                    | Family::Delete
                    | Family::Insert
                    | Family::InsertText
                    | Family::Bulk
                    | Family::Stream
                    | Family::Own
                    | Family::OwnByChance
            )
        };
        self.actions.iter().any(draws).then_some(self.options.table_size)
    }

    /// Somebody else has written its statements.
    pub fn is_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Does it change anything?
    pub fn writes(&self) -> bool {
        let by_family = |action: &Action| match action.family {
            Family::Own | Family::OwnByChance => false,
            family => family.kind() == Kind::Write,
        };
        self.own.iter().any(|one| one.kind == Kind::Write) || self.actions.iter().any(by_family)
    }

    /// Of the user's own, the first that may write: its place, from 1, and its first two words. The rest may hold a password.
    pub fn first_write(&self) -> Option<(usize, String)> {
        let at = self.own.iter().position(|one| one.kind == Kind::Write)?;
        let text = self.own.get(at)?.shown();
        Some((at + 1, text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")))
    }

    /// Does each connection write to a table of its own?
    pub fn is_bulk(&self) -> bool {
        self.actions.iter().any(|action| action.family == Family::Bulk)
    }

    fn text(&self, number: usize) -> &[u8] {
        self.texts.get(number).map_or(&[], |text| text.as_bytes())
    }

    /// Appends the packet of an action. `slots` are the session's, one for each of [`Script::statements`]. The number of the statement comes back, of those that were prepared.
    ///
    /// # Errors
    /// None in practice: statements are short.
    pub fn write(
        &self,
        action: Action,
        event: &mut Event,
        random: &mut fastrand::Rng,
        slots: &mut [Slot],
        out: &mut Vec<u8>,
    ) -> Result<usize, WireError> {
        let options = &self.options;
        if action.draws_table {
            event.table = random.u32(0..options.tables.max(1));
        }
        let mut id = || options.distribution.draw(random, 1, options.table_size.max(1));
        let int = |value: u32| Parameter::Int(i32::try_from(value).unwrap_or(i32::MAX));
        let mut texts = [0; C_BYTES + PAD_BYTES];
        let (c, pad) = texts.split_at_mut(C_BYTES);
        let table = if action.family.is_of_a_table() { event.table } else { 0 };
        let mut number = (action.statement + table) as usize;
        let mut execute = |parameters: &[Parameter<'_>], out: &mut Vec<u8>| {
            // Each session has one for all of them.
            let Some(slot) = slots.get_mut(number) else { return Ok(()) };
            match slot.id {
                Some(id) => append_execute(out, id, parameters, !std::mem::replace(&mut slot.is_typed, true)),
                None => append_query(out, |out| {
                    write_text(out, self.statements.get(number).map_or("", String::as_str), parameters);
                }),
            }
        };
        match action.family {
            Family::Begin | Family::Commit => execute(&[], out)?,
            Family::PointSelect | Family::IndexUpdate => execute(&[int(id())], out)?,
            Family::Delete => {
                event.id = id();
                execute(&[int(event.id)], out)?;
            }
            Family::SimpleRange | Family::SumRange | Family::OrderRange | Family::DistinctRange => {
                let first = id();
                let last = first.saturating_add(options.range_size).saturating_sub(1);
                execute(&[int(first), int(last)], out)?;
            }
            Family::NonIndexUpdate => {
                let id = id();
                fill_digits(random, c);
                execute(&[Parameter::Text(c), int(id)], out)?;
            }
            Family::Insert => {
                let k = id();
                fill_digits(random, c);
                fill_digits(random, pad);
                execute(&[int(event.id), int(k), Parameter::Text(c), Parameter::Text(pad)], out)?;
            }
            Family::InsertText => {
                let k = id();
                fill_digits(random, c);
                fill_digits(random, pad);
                append_query(out, |out| {
                    out.extend_from_slice(self.text(number));
                    // Writing into a Vec cannot fail.
                    let _ = write!(out, "{k}, '");
                    out.extend_from_slice(c);
                    out.extend_from_slice(b"', '");
                    out.extend_from_slice(pad);
                    out.extend_from_slice(b"')");
                })?;
            }
            Family::Bulk => append_query(out, |out| event.bulk.write(out))?,
            Family::Own | Family::OwnByChance => {
                number = if action.family == Family::Own {
                    action.statement as usize
                } else {
                    let all = self.chances.last().copied().unwrap_or_default();
                    let drawn = random.u64(0..all.max(1));
                    self.chances.partition_point(|chance| *chance <= drawn)
                };
                if let Some(own) = self.own.get(number) {
                    append_query(out, |out| own.write(options, event.table, random, out))?;
                }
            }
            Family::Stream => append_query(out, |out| out.extend_from_slice(self.text(number)))?,
        }
        Ok(number)
    }
}

/// A statement with its parameters in their places, as sysbench writes it where nothing is prepared.
fn write_text(out: &mut Vec<u8>, sql: &str, parameters: &[Parameter<'_>]) {
    let mut parameters = parameters.iter();
    for (place, part) in sql.split('?').enumerate() {
        if place > 0 {
            // Writing into a Vec cannot fail. Texts are digits and hyphens: there is nothing to escape.
            match parameters.next() {
                Some(Parameter::Int(value)) => _ = write!(out, "{value}"),
                Some(Parameter::Text(text)) => {
                    out.push(b'\'');
                    out.extend_from_slice(text);
                    out.push(b'\'');
                }
                None => {}
            }
        }
        out.extend_from_slice(part.as_bytes());
    }
}

impl Bulk {
    /// One statement, and the ids of the next one are others.
    fn write(&mut self, out: &mut Vec<u8>) {
        let begin = out.len();
        let table = self.connection.saturating_add(1);
        // Writing into a Vec cannot fail.
        let _ = write!(out, "INSERT INTO sbtest{table} VALUES");
        let mut comma = "";
        loop {
            let (id, end) = (self.next_id, out.len());
            let _ = write!(out, "{comma}({id},{id})");
            if out.len() - begin > BULK_BYTES {
                out.truncate(end);
                return;
            }
            comma = ",";
            // What is no INTEGER any more is the server's to refuse.
            self.next_id = id.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(name: &str, options: &Options) -> [usize; 3] {
        let script = Script::of(name, options).expect("it is there");
        [Kind::Read, Kind::Write, Kind::Other]
            .map(|kind| script.actions.iter().filter(|action| script.kind(**action, 0) == kind).count())
    }

    /// As sysbench 1.0.20 prints them for one transaction.
    #[test]
    fn an_event_has_as_many_queries_of_each_kind_as_with_sysbench() {
        let options = Options { tables: 3, ..Options::default() };
        for (name, expected) in [
            ("oltp_point_select", [1, 0, 0]),
            ("oltp_read_only", [14, 0, 2]),
            ("oltp_write_only", [0, 4, 2]),
            ("oltp_read_write", [14, 4, 2]),
            ("oltp_update_index", [0, 1, 0]),
            ("oltp_insert", [0, 1, 0]),
            ("bulk_insert", [0, 1, 0]),
        ] {
            assert_eq!(kinds(name, &options), expected, "{name}");
        }
        let options = Options { skip_trx: true, range_selects: false, delete_inserts: 2, ..options };
        assert_eq!(kinds("oltp_read_write", &options), [10, 6, 0]);
        assert!(Script::of("oltp_nothing", &options).is_none());
    }

    #[test]
    fn every_session_prepares_one_statement_for_each_table() {
        let options = Options { tables: 2, ..Options::default() };
        let script = Script::of("oltp_write_only", &options).expect("it is there");
        let expected = [
            "BEGIN",
            "UPDATE sbtest1 SET k=k+1 WHERE id=?",
            "UPDATE sbtest2 SET k=k+1 WHERE id=?",
            "UPDATE sbtest1 SET c=? WHERE id=?",
            "UPDATE sbtest2 SET c=? WHERE id=?",
            "DELETE FROM sbtest1 WHERE id=?",
            "DELETE FROM sbtest2 WHERE id=?",
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
            "INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)",
            "COMMIT",
        ];
        assert_eq!(script.statements, expected);
    }

    #[test]
    fn a_bulk_insert_is_as_large_as_sysbench_s_and_its_ids_go_on() {
        let script = Script::of("bulk_insert", &Options::default()).expect("it is there");
        let mut event = Event::first(Bulk { connection: 3, next_id: 998 });
        let mut last = 997;
        for _ in 0..3 {
            event = event.next();
            let mut out = Vec::new();
            let mut random = fastrand::Rng::with_seed(1);
            script.write(script.actions[0], &mut event, &mut random, &mut [], &mut out).expect("short");
            let sql = std::str::from_utf8(&out[5..]).expect("text");
            assert!((BULK_BYTES - 24..=BULK_BYTES).contains(&sql.len()), "{}", sql.len());
            let rows = sql.strip_prefix("INSERT INTO sbtest4 VALUES(").expect("its table");
            for row in rows.strip_suffix(')').expect("the end").split("),(") {
                last += 1;
                assert_eq!(row, format!("{last},{last}"));
            }
        }
        assert!(last > 100_000, "{last}");
    }

    #[test]
    fn a_mix_draws_by_weight() {
        let of = |sql: &str, weight| {
            let mut one = Template::plain(sql);
            one.weight = weight;
            one
        };
        let all = vec![of("SELECT 1", 1), of("SELECT 2", 0), of("SELECT 3", 99)];
        let script = Script::mix(all, &Options::default());
        let (mut random, mut event) = (fastrand::Rng::with_seed(5), Event::default());
        let mut drawn = [0; 3];
        for _ in 0..10_000 {
            let mut out = Vec::new();
            let number = script.write(script.actions[0], &mut event, &mut random, &mut [], &mut out);
            drawn[number.expect("short")] += 1;
        }
        // Four standard deviations of 10,000 draws of 1 %.
        assert!((60..140).contains(&drawn[0]) && drawn[1] == 0, "{drawn:?}");
    }

    #[test]
    fn an_insert_puts_back_what_was_deleted_in_the_same_table() {
        let options = Options { tables: 5, table_size: 1_000_000, ..Options::default() };
        let script = Script::of("oltp_write_only", &options).expect("it is there");
        let mut random = fastrand::Rng::with_seed(9);
        let mut slots: Vec<Slot> = (0..22).map(|id| Slot { id: Some(id), is_typed: false }).collect();
        for round in 0..50 {
            let mut event = Event::default();
            let mut sent = Vec::new();
            for action in &script.actions {
                let mut out = Vec::new();
                let number =
                    script.write(*action, &mut event, &mut random, &mut slots, &mut out).expect("short");
                sent.push((script.statements[number].clone(), out));
            }
            let pick = |verb: &str| sent.iter().find(|(sql, _)| sql.starts_with(verb)).expect("sent");
            let ((delete, deleted), (insert, inserted)) = (pick("DELETE"), pick("INSERT"));
            let table = |sql: &str| sql.split(' ').nth(2).map(str::to_owned);
            assert_eq!(table(delete), table(insert));
            // Types go along the first time only: 2 bytes a parameter.
            let id_at = |packet: &[u8], parameters: usize| {
                let typed = packet[15] == 1;
                let at = 16 + if typed { 2 * parameters } else { 0 };
                packet[at..at + 4].to_vec()
            };
            assert_eq!(id_at(deleted, 1), id_at(inserted, 4), "{round}");
        }
    }
}

//! What each step does, and takes back.

use std::path::Path;
use std::time::{Duration, Instant};

use change::{Acted, Direction, Runner, StepCheck, StepError};
use model::text::counted;
use model::{Plan, Step};
use net::sql_text::{name, text};
use net::{Client, ExposeSecret, NetError};

use crate::inspect::{self, Table, mark};
use crate::{End, Ends, LOCK_WAIT_S, ReplicationLogin, compare, copy, gtid, plan, trial};

/// A replica that was just told to follow is waited for.
const FOLLOW_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);
/// A target that lags is waited for as long as it comes nearer.
const CATCH_UP_S: u64 = 600;
/// One wait on the server.
const WAIT_S: u64 = 2;
/// In it applications can write to neither.
const WINDOW_S: u64 = 60;

/// Carries out a plan of [`crate::plan()`].
pub struct Migration<'m> {
    ends: &'m Ends,
    plan_id: String,
    /// What each end was before: source, target.
    was_read_only: [bool; 2],
    tell: &'m mut dyn FnMut(&str),
    /// From when the source was closed to when the target was open.
    pub window: Option<Duration>,
    closed: Option<Instant>,
}

/// A replica whose channel does not run, or not as it was set up.
pub(crate) struct NotFollowing {
    pub why: String,
    pub has_error: bool,
}

pub(crate) fn fail(what: &str, why: impl std::fmt::Display, next: &str) -> StepError {
    StepError(format!("{what}\n  why:  {why}\n  next: {next}"))
}

pub(crate) fn asked(end: End) -> impl Fn(NetError) -> StepError {
    move |error| {
        fail(
            &format!("the {end} cannot be asked"),
            error.in_one_line(),
            "see that it runs, then sealion migrate resume",
        )
    }
}

/// A definition without the next value of its AUTO_INCREMENT column, which goes on while others write.
fn without_next_value(definition: &str) -> String {
    let Some((before, rest)) = definition.split_once(" AUTO_INCREMENT=") else {
        return definition.to_owned();
    };
    before.to_owned() + rest.trim_start_matches(|one: char| one.is_ascii_digit())
}

/// `channel`: as SQL, or empty. `place`: where it begins.
pub(crate) fn change_master(
    target: &mut Client,
    channel: &str,
    login: &ReplicationLogin,
    place: &str,
) -> Result<(), StepError> {
    let change = net::SecretString::from(format!(
        "CHANGE MASTER {channel} TO MASTER_HOST={}, MASTER_PORT={}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_SSL=1, MASTER_SSL_CA={}, \
         MASTER_SSL_VERIFY_SERVER_CERT=1, {place}",
        text(&login.host),
        login.port,
        text(&login.user),
        text(login.password.expose_secret()),
        text(&login.ca.display().to_string())
    ));
    keep_out_of_logs(target)?;
    // The server's answer could repeat the statement.
    target.execute(change.expose_secret()).map_err(|error| match error {
        NetError::Refused { code, .. } => {
            fail("the target takes no CHANGE MASTER", format!("it answers with error {code}"), RESUME)
        }
        other => asked(End::Target)(other),
    })?;
    Ok(())
}

/// The next statement holds a password: MariaDB writes it into its logs as it is.
fn keep_out_of_logs(target: &mut Client) -> Result<(), StepError> {
    for (log, off) in [
        ("general_log", "SET SESSION sql_log_off = ON"),
        ("slow_query_log", "SET SESSION slow_query_log = OFF"),
    ] {
        let rows = target.query(&format!("SELECT @@GLOBAL.{log}")).map_err(asked(End::Target))?;
        if rows.scalar().as_deref() == Some("0") {
            continue;
        }
        target.execute(off).map_err(|error| {
            fail(
                &format!("the password of replication would stand in the target's log ({log})"),
                error.in_one_line(),
                &format!("SET GLOBAL {log} = OFF there for the time being, then sealion migrate resume"),
            )
        })?;
    }
    Ok(())
}

/// All tables of a schema, as a filter of replication names them: `_` and `%` in the name are themselves.
///
/// # Source
/// MariaDB manual, replicate_wild_do_table.
fn wild(schema: &str) -> String {
    format!("{}.%", schema.replace('\\', "\\\\").replace('_', "\\_").replace('%', "\\%"))
}

/// Source: MariaDB manual, error 1205, ER_LOCK_WAIT_TIMEOUT.
const LOCK_WAIT_TIMEOUT: u16 = 1205;

pub(crate) const RESUME: &str = "fix that, then sealion migrate resume; or sealion migrate rollback";

impl<'m> Migration<'m> {
    pub fn new(ends: &'m Ends, plan: &Plan, tell: &'m mut dyn FnMut(&str)) -> Self {
        let close = plan.steps.iter().find(|step| step.kind == plan::CLOSE);
        let was = |end: &str| {
            close.and_then(|step| step.params.get(plan::WAS_READ_ONLY)?.get(end)?.as_bool()).unwrap_or(false)
        };
        let was_read_only = [was("source"), was("target")];
        Self { ends, plan_id: plan.id.clone(), was_read_only, tell, window: None, closed: None }
    }

    fn client(&self, end: End) -> Result<Client, StepError> {
        self.ends.session(end).map_err(asked(end))
    }

    fn tables(&self) -> Result<Vec<Table>, StepError> {
        let mut source = self.client(End::Source)?;
        inspect::tables(&mut source, &self.ends.schemas).map_err(asked(End::Source))
    }

    /// What of our schemas is on the target: ours, somebody else's.
    fn on_target(&self, target: &mut Client) -> Result<(Vec<String>, Vec<String>), StepError> {
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

    fn make_tables(&self) -> Result<(), StepError> {
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
            if !ours.contains(schema) {
                let rows = source
                    .query(&format!(
                        "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA \
                         WHERE SCHEMA_NAME = {}",
                        text(schema)
                    ))
                    .map_err(asked(End::Source))?;
                let charset = rows.text(0, "DEFAULT_CHARACTER_SET_NAME").unwrap_or_default().into_owned();
                let collation = rows.text(0, "DEFAULT_COLLATION_NAME").unwrap_or_default().into_owned();
                target
                    .execute(&format!(
                        "CREATE DATABASE {} CHARACTER SET {} COLLATE {} COMMENT {}",
                        name(schema),
                        name(&charset),
                        name(&collation),
                        text(&mark(&self.plan_id))
                    ))
                    .map_err(asked(End::Target))?;
            }
        }
        for table in self.tables()? {
            let rows =
                source.query(&format!("SHOW CREATE TABLE {}", table.quoted())).map_err(asked(End::Source))?;
            let made = rows.first().and_then(|row| row.at(1)).unwrap_or_default().into_owned();
            let Some(rest) = made.strip_prefix("CREATE TABLE ") else {
                return Err(fail("a table cannot be made", format!("the source says: {made}"), RESUME));
            };
            target.execute(&format!("USE {}", name(&table.schema))).map_err(asked(End::Target))?;
            target.execute(&format!("CREATE TABLE IF NOT EXISTS {rest}")).map_err(|error| {
                fail(&format!("{}.{} cannot be made", table.schema, table.name), error.in_one_line(), RESUME)
            })?;
        }
        Ok(())
    }

    fn drop_schemas(&self) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let (ours, _) = self.on_target(&mut target)?;
        for schema in ours {
            target.execute(&format!("DROP DATABASE {}", name(&schema))).map_err(asked(End::Target))?;
        }
        Ok(())
    }

    fn drop_tables(&self) -> Result<(), StepError> {
        self.drop_schemas()?;
        let mut target = self.client(End::Target)?;
        trial::forget(&mut target)?;
        target.execute("SET GLOBAL gtid_slave_pos = ''").map_err(asked(End::Target))?;
        Ok(())
    }

    /// All rows, anew: what an earlier try has left goes first.
    fn copy_rows(&mut self) -> Result<String, StepError> {
        // Tables too: they may be others by now, and the next AUTO_INCREMENT value is theirs.
        self.drop_schemas()?;
        self.make_tables()?;
        let tables = self.tables()?;
        let mut target = self.client(End::Target)?;
        let sessions = self.ends.sessions.min(tables.len()).max(1);
        let mut snapshot = copy::snapshot(self.ends, sessions)
            .map_err(|why| fail("there is no consistent snapshot of the source", why, RESUME))?;
        (self.tell)(&format!(
            "{} at {}",
            counted(snapshot.sessions.len(), "session reads", "sessions read"),
            snapshot.gtid
        ));
        let rows = copy::all(self.ends, &mut snapshot, &tables, self.tell)
            .map_err(|why| fail("the copy ended before it was whole", why, RESUME))?;
        // Kept by the target, so that whoever resumes knows where to follow from.
        target
            .execute(&format!("SET GLOBAL gtid_slave_pos = {}", text(&snapshot.gtid)))
            .map_err(asked(End::Target))?;
        Ok(format!(
            "{} of {} at {}",
            counted(rows, "row", "rows"),
            counted(tables.len(), "table", "tables"),
            snapshot.gtid
        ))
    }

    fn follow(&self) -> Result<(), StepError> {
        let login = &self.ends.replication;
        let mut target = self.client(End::Target)?;
        target.execute("STOP SLAVE").map_err(asked(End::Target))?;
        // Everything else that is written on the source has no place on the target.
        let only = self.ends.schemas.iter().map(|schema| wild(schema)).collect::<Vec<_>>().join(",");
        target
            .execute(&format!("SET GLOBAL replicate_wild_do_table = {}", text(&only)))
            .map_err(asked(End::Target))?;
        change_master(&mut target, "", login, "MASTER_USE_GTID=slave_pos")?;
        target.execute("START SLAVE").map_err(asked(End::Target))?;
        Ok(())
    }

    /// `None`: it follows, over verified TLS. Else what is not so.
    fn not_following(target: &mut Client) -> Result<Option<NotFollowing>, StepError> {
        let rows = target.query("SHOW SLAVE STATUS").map_err(asked(End::Target))?;
        let of = |column: &str| rows.text(0, column).unwrap_or_default().into_owned();
        let errors = [of("Last_IO_Error"), of("Last_SQL_Error")].join(" ");
        let wanted = [
            ("Slave_IO_Running", "Yes"),
            ("Slave_SQL_Running", "Yes"),
            ("Master_SSL_Allowed", "Yes"),
            ("Master_SSL_Verify_Server_Cert", "Yes"),
        ];
        Ok(wanted.iter().find(|(column, value)| of(column) != *value).map(|(column, _)| NotFollowing {
            why: format!("{column} is {} {}", of(column), errors.trim()).trim().to_owned(),
            has_error: !errors.trim().is_empty(),
        }))
    }

    fn wait_following(&self) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let began = Instant::now();
        loop {
            let Some(NotFollowing { why, has_error }) = Self::not_following(&mut target)? else {
                return Ok(());
            };
            // The source said no: waiting does not help.
            if began.elapsed() > FOLLOW_MAX || has_error {
                return Err(fail("the target does not follow the source", why, RESUME));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Waits until the target has `gtid`.
    fn reach(&self, gtid: &str, at_most_s: u64) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let began = Instant::now();
        let mut is_started = false;
        loop {
            // Short, so that nobody waits on the server for somebody who is dead.
            if Self::has_reached(&mut target, gtid, WAIT_S)? {
                return Ok(());
            }
            let stopped = Self::not_following(&mut target)?.map(|stopped| stopped.why);
            if let Some(why) = &stopped {
                // Whoever was killed may have left its threads stopped.
                if is_started {
                    return Err(fail("the target does not follow the source", why, RESUME));
                }
                is_started = true;
                for sql in ["STOP SLAVE", "START SLAVE"] {
                    target.execute(sql).map_err(asked(End::Target))?;
                }
            }
            if began.elapsed() > Duration::from_secs(at_most_s) {
                let why = stopped.unwrap_or_else(|| format!("{at_most_s} s were not enough"));
                return Err(fail("the target has not caught up", why, RESUME));
            }
        }
    }

    fn same_tables(&self, target: &mut Client, tables: &[Table]) -> Result<(), StepError> {
        let there = inspect::tables(target, &self.ends.schemas).map_err(asked(End::Target))?;
        let names = |all: &[Table]| all.iter().map(Table::quoted).collect::<std::collections::BTreeSet<_>>();
        let (here, there) = (names(tables), names(&there));
        let Some(one) = here.symmetric_difference(&there).next() else { return Ok(()) };
        let only = if here.contains(one) { "source" } else { "target" };
        Err(fail(
            "the target has other tables than the source",
            format!("{one} is on the {only} only: it was made or dropped meanwhile"),
            RESUME,
        ))
    }

    /// The definition of every table, as both sides tell it.
    fn same_definitions(
        &self,
        source: &mut Client,
        target: &mut Client,
        tables: &[Table],
    ) -> Result<(), StepError> {
        let problems = inspect::cannot_move(source, &self.ends.schemas).map_err(asked(End::Source))?;
        if let Some(first) = problems.first() {
            return Err(fail(
                "something was made on the source that does not move",
                &first.what,
                &first.next,
            ));
        }
        self.same_tables(target, tables)?;
        for table in tables {
            let sql = format!("SHOW CREATE TABLE {}", table.quoted());
            let told = |client: &mut Client, end: End| -> Result<String, StepError> {
                let rows = client.query(&sql).map_err(asked(end))?;
                Ok(without_next_value(&rows.first().and_then(|row| row.at(1)).unwrap_or_default()))
            };
            let (here, there) = (told(source, End::Source)?, told(target, End::Target)?);
            if here != there {
                let differs = here.lines().zip(there.lines()).find(|(one, other)| one != other);
                let (one, other) = differs.unwrap_or((&here, &there));
                return Err(fail(
                    &format!("{}.{} is defined otherwise on the target", table.schema, table.name),
                    format!("source: {}; target: {}", one.trim(), other.trim()),
                    "sealion migrate rollback, and migrate again while nobody changes tables",
                ));
            }
        }
        Ok(())
    }

    fn written(source: &mut Client) -> Result<String, StepError> {
        Self::position(source, End::Source, "gtid_binlog_pos")
    }

    /// Empty is a position: nothing was written. No answer is none.
    fn position(client: &mut Client, end: End, variable: &str) -> Result<String, StepError> {
        let rows = client.query(&format!("SELECT @@GLOBAL.{variable}")).map_err(asked(end))?;
        let position = rows.scalar().map(std::borrow::Cow::into_owned);
        position.ok_or_else(|| {
            fail(&format!("the {end} does not report its position"), format!("{variable} is NULL"), RESUME)
        })
    }

    /// Compares at one and the same transaction: the target stops behind it.
    fn compare(&mut self) -> Result<String, StepError> {
        let (mut source, mut target) = (self.client(End::Source)?, self.client(End::Target)?);
        Self::is_same_log(&mut source, &mut target)?;
        let now = Self::written(&mut source)?;
        self.reach(&now, CATCH_UP_S)?;
        target.execute("STOP SLAVE").map_err(asked(End::Target))?;
        let compared = self.compared(&mut target);
        // It has stopped behind that transaction, or is still on its way there.
        for sql in ["STOP SLAVE", "START SLAVE"] {
            target.execute(sql).map_err(asked(End::Target))?;
        }
        compared
    }

    fn compared(&mut self, target: &mut Client) -> Result<String, StepError> {
        let tables = self.tables()?;
        let mut snapshot = copy::snapshot(self.ends, 1)
            .map_err(|why| fail("there is no consistent snapshot of the source", why, RESUME))?;
        let Some(source) = snapshot.sessions.first_mut() else { return Err(StepError("no session".into())) };
        target
            .execute(&format!("START SLAVE UNTIL MASTER_GTID_POS = {}", text(&snapshot.gtid)))
            .map_err(asked(End::Target))?;
        // Its threads stop behind that transaction by themselves, and may have done so.
        self.reach_until(&snapshot.gtid)?;
        self.same_definitions(source, target, &tables)?;
        let (mut rows, mut differ) = (0, Vec::new());
        let hour = Duration::from_secs(3600);
        source.set_io_timeout(hour).map_err(asked(End::Source))?;
        target.set_io_timeout(hour).map_err(asked(End::Target))?;
        for table in &tables {
            let said = |end: End| {
                let named = format!("{}.{}", table.schema, table.name);
                move |why: String| fail(&format!("{named} cannot be compared on the {end}"), why, RESUME)
            };
            let (here, there) = std::thread::scope(|scope| {
                let here = scope.spawn(|| compare::digest(source, table));
                let there = compare::digest(target, table);
                (here.join().unwrap_or_else(|_| Err("its thread has panicked".into())), there)
            });
            let (here, there) = (here.map_err(said(End::Source))?, there.map_err(said(End::Target))?);
            if here != there {
                differ
                    .push(format!("{}.{} ({} and {} rows)", table.schema, table.name, here.rows, there.rows));
            }
            rows += here.rows;
        }
        if differ.is_empty() {
            return Ok(format!(
                "{} of {} are equal at {}",
                counted(rows, "row", "rows"),
                counted(tables.len(), "table", "tables"),
                snapshot.gtid
            ));
        }
        Err(fail(
            "source and target differ",
            format!("at {}: {}", snapshot.gtid, differ.join(", ")),
            "sealion migrate rollback, and find out who wrote to the target",
        ))
    }

    /// The same for threads that end there.
    fn reach_until(&self, gtid: &str) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        let began = Instant::now();
        loop {
            if Self::has_reached(&mut target, gtid, WAIT_S)? {
                return Ok(());
            }
            let rows = target.query("SHOW SLAVE STATUS").map_err(asked(End::Target))?;
            let errors: Vec<String> = ["Last_IO_Error", "Last_SQL_Error"]
                .iter()
                .filter_map(|column| rows.text(0, column))
                .filter(|text| !text.is_empty())
                .map(std::borrow::Cow::into_owned)
                .collect();
            if !errors.is_empty() || began.elapsed() > Duration::from_secs(CATCH_UP_S) {
                return Err(fail("the target has not caught up", errors.join("; "), RESUME));
            }
        }
    }

    fn close_source(&mut self) -> Result<(), StepError> {
        let mut source = self.client(End::Source)?;
        self.closed = Some(Instant::now());
        Self::close(&mut source, End::Source)?;
        let last = Self::written(&mut source)?;
        self.reach(&last, WINDOW_S)?;
        self.nothing_since(&mut source)
    }

    /// Waits for statements that write; transactions that are open fail when they commit.
    fn close(client: &mut Client, end: End) -> Result<(), StepError> {
        client.set_io_timeout(Duration::from_secs(WINDOW_S)).map_err(asked(end))?;
        client.execute("SET GLOBAL read_only = ON").map(|_| ()).map_err(|error| match error {
            NetError::Refused { code: LOCK_WAIT_TIMEOUT, .. } => fail(
                &format!("the {end} cannot be closed for writes"),
                format!("a session holds table locks for more than {LOCK_WAIT_S} s (LOCK TABLES, or a long statement)"),
                "end that session, then sealion migrate resume; or sealion migrate rollback",
            ),
            other => asked(end)(other),
        })
    }

    /// The target has everything that the source has written. The text of a position can differ where the position does not, so the
    /// target is asked.
    fn nothing_since(&self, source: &mut Client) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        Self::is_same_log(source, &mut target)?;
        let written = Self::written(source)?;
        if Self::has_reached(&mut target, &written, 0)? {
            return Ok(());
        }
        Err(fail(
            "the source was written to although it is read-only",
            format!(
                "it is at {written}, which the target has not: an account with SUPER or READ ONLY ADMIN has written"
            ),
            "end those sessions; what they wrote is on the source only. sealion migrate resume, while the target is read-only",
        ))
    }

    /// Behind a RESET MASTER positions begin anew, and a target that has nothing of what follows would have "all" of it.
    fn is_same_log(source: &mut Client, target: &mut Client) -> Result<(), StepError> {
        // In this order: what is written in between the target may have already.
        let seen = Self::position(target, End::Target, "gtid_slave_pos")?;
        let written = Self::written(source)?;
        let told = format!("it is at \"{written}\", and the target has followed it to \"{seen}\"");
        match gtid::has_written(&written, &seen) {
            Some(true) => Ok(()),
            Some(false) => Err(fail(
                "the binary log of the source was begun anew",
                format!("{told} (RESET MASTER?)"),
                "sealion migrate rollback, and migrate again: nobody can tell what was written in between",
            )),
            None => Err(fail(
                "whether the target follows the source's binary log cannot be determined",
                format!("{told}: these are no GTID positions of MariaDB"),
                RESUME,
            )),
        }
    }

    /// Whether the target has the transaction `gtid`, or gets it within so many seconds.
    fn has_reached(target: &mut Client, gtid: &str, at_most_s: u64) -> Result<bool, StepError> {
        let rows = target
            .query(&format!("SELECT MASTER_GTID_WAIT({}, {at_most_s})", text(gtid)))
            .map_err(asked(End::Target))?;
        Ok(rows.scalar().as_deref() == Some("0"))
    }

    fn is_read_only(client: &mut Client, end: End) -> Result<bool, StepError> {
        let rows = client.query("SELECT @@GLOBAL.read_only").map_err(asked(end))?;
        match rows.scalar().as_deref() {
            Some("0") => Ok(false),
            Some("1") => Ok(true),
            other => Err(fail(
                &format!("whether the {end} is read-only cannot be determined"),
                format!("it answers {}", other.unwrap_or("nothing")),
                RESUME,
            )),
        }
    }

    fn set_read_only(&self, end: End, is_on: bool) -> Result<(), StepError> {
        let mut client = self.client(end)?;
        let value = if is_on { "ON" } else { "OFF" };
        client.execute(&format!("SET GLOBAL read_only = {value}")).map(|_| ()).map_err(asked(end))
    }

    fn stop_following(&self) -> Result<(), StepError> {
        let mut target = self.client(End::Target)?;
        for sql in ["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL replicate_wild_do_table = ''"] {
            target.execute(sql).map_err(asked(End::Target))?;
        }
        Ok(())
    }
}

impl Runner for Migration<'_> {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        let mut target = self.client(End::Target)?;
        Ok(match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => {
                let (_, theirs) = self.on_target(&mut target)?;
                if theirs.is_empty() {
                    StepCheck::Ready
                } else {
                    StepCheck::Blocked(format!("the target has {} already", theirs.join(", ")))
                }
            }
            (plan::TABLES, Direction::Back) => {
                if self.on_target(&mut target)?.0.is_empty() {
                    StepCheck::AlreadyDone("nothing of this migration is on the target".into())
                } else {
                    StepCheck::Ready
                }
            }
            (plan::CLOSE, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                let prepared = source.query("XA RECOVER").map_err(asked(End::Source))?;
                if prepared.is_empty() {
                    StepCheck::Ready
                } else {
                    StepCheck::Blocked(
                        "the source has prepared XA transactions, which cannot be committed once it is read-only: commit them or roll \
                         them back, then sealion migrate resume"
                            .into(),
                    )
                }
            }
            (plan::OPEN, Direction::Forward) => {
                // Whoever opened the source again meanwhile has written to it.
                let mut source = self.client(End::Source)?;
                if !Self::is_read_only(&mut source, End::Source)? {
                    return Ok(StepCheck::Blocked(
                        "the source takes writes again: sealion migrate rollback".into(),
                    ));
                }
                let last = Self::written(&mut source)?;
                self.reach(&last, WINDOW_S)?;
                StepCheck::Ready
            }
            _ => StepCheck::Ready,
        })
    }

    fn act(&mut self, step: &Step, direction: Direction, copied: Option<&str>) -> Result<Acted, StepError> {
        match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => self.make_tables()?,
            (plan::TABLES, Direction::Back) => {
                self.drop_tables()?;
                self.set_read_only(End::Target, self.was_read_only[1])?;
            }
            (plan::COPY, Direction::Forward) if copied.is_none() => {
                return Ok(Acted::Part { mark: self.copy_rows()? });
            }
            (plan::FOLLOW, Direction::Forward) => self.follow()?,
            (plan::FOLLOW, Direction::Back) => self.stop_following()?,
            (plan::CLOSE, Direction::Forward) => self.close_source()?,
            (plan::CLOSE, Direction::Back) => self.set_read_only(End::Source, self.was_read_only[0])?,
            (plan::OPEN, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                self.nothing_since(&mut source)?;
                self.set_read_only(End::Target, false)?;
                self.stop_following()?;
                self.window = self.closed.map(|closed| closed.elapsed());
            }
            _ => {}
        }
        Ok(Acted::Whole)
    }

    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError> {
        let mut target = self.client(End::Target)?;
        match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => {
                let tables = self.tables()?;
                self.same_tables(&mut target, &tables)?;
                // Before hours of copying: what replication will need is tried by who will do it.
                let login = &self.ends.replication;
                trial::try_to_follow(&mut self.client(End::Source)?, &mut target, login)?;
                let tables = counted(tables.len(), "table", "tables");
                Ok(format!("{tables}; the target reaches the source as {}", login.user))
            }
            (plan::TABLES, Direction::Back) => match self.on_target(&mut target)?.0.as_slice() {
                [] => Ok("nothing of it is on the target".into()),
                left => Err(fail("schemas are left on the target", left.join(", "), RESUME)),
            },
            (plan::COPY, Direction::Forward) => {
                let rows = target.query("SELECT @@GLOBAL.gtid_slave_pos").map_err(asked(End::Target))?;
                Ok(format!("the target follows from {}", rows.scalar().unwrap_or_default()))
            }
            (plan::FOLLOW, Direction::Forward) => {
                self.wait_following()?;
                Ok("it follows, over TLS, with verification".into())
            }
            (plan::COMPARE, Direction::Forward) => self.compare(),
            (plan::CLOSE, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                if Self::is_read_only(&mut source, End::Source)? {
                    Ok("the source is read-only, and the target has all of it".into())
                } else {
                    Err(fail("the source takes writes", "read_only is OFF", RESUME))
                }
            }
            (plan::OPEN, Direction::Forward) => {
                if Self::is_read_only(&mut target, End::Target)? {
                    return Err(fail("the target takes no writes", "read_only is ON", RESUME));
                }
                let mut source = self.client(End::Source)?;
                self.nothing_since(&mut source)?;
                let window = self.window.map_or_else(String::new, |window| {
                    format!("; applications could write to neither for {} ms", window.as_millis())
                });
                Ok(format!("the target takes writes{window}"))
            }
            _ => Ok("taken back".into()),
        }
    }

    /// There is one journal, on the operator's machine; both servers tell the rest themselves.
    fn copy_journal(&mut self, _journal: &Path, _line: &str) -> Result<usize, StepError> {
        Ok(1)
    }
}

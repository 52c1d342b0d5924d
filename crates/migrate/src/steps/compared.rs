//! Whether both servers hold the same, at one and the same transaction, while the leading one is written to.

use std::time::Duration;

use change::StepError;
use model::text::counted;
use net::Client;
use net::sql_text::text;

use super::open_work::{self, Changed};
use super::{RESUME, asked, fail};
use crate::flow::{CATCH_UP_S, Flow};
use crate::place::Place;
use crate::statements::{self, Since, Written};
use crate::{End, Ends, compare, copy, dialect, inspect};

/// One table of a large server.
const TABLE_MAX: Duration = Duration::from_secs(3600);

/// What was compared, and from where on nobody has looked at what was written.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    /// The leader's tables when the comparison began.
    pub changed: Changed,
    /// The end of the leader's binary log then; `None`: it writes none, and nobody follows it.
    pub log_end: Option<Place>,
}

impl Compared {
    /// To be made before a comparison begins.
    pub(super) fn begin(leader: &mut Client, schemas: &[String], end: End) -> Result<Self, StepError> {
        let log_end = dialect::log_end(leader).map_err(asked(end))?;
        Ok(Self { changed: open_work::changed(leader, schemas, end)?, log_end })
    }

    /// Nothing was written since that could be another thing on the other server. Looked for once, it is looked for from there on.
    ///
    /// # Errors
    /// Definitions were changed, or rows by statements; or that cannot be determined.
    pub(super) fn only_rows_since(
        &mut self,
        leader: &mut Client,
        schemas: &[String],
        end: End,
    ) -> Result<(), StepError> {
        open_work::same(&self.changed, leader, schemas, end)?;
        let Some(Place::Log { file, at }) = &self.log_end else { return Ok(()) };
        let cannot_tell = |why: String| {
            fail(
                &format!(
                    "whether statements were written to the {end} since it was compared cannot be determined"
                ),
                why,
                "sealion migrate resume, which compares again",
            )
        };
        match statements::since(leader, (file, *at), schemas) {
            Ok(Since::Rows { end }) => {
                self.log_end = Some(end);
                Ok(())
            }
            Ok(Since::Lost) => Err(cannot_tell(format!(
                "its binary log {file} is gone (PURGE BINARY LOGS, or RESET MASTER?)"
            ))),
            Ok(Since::Statement(Written { at, verb })) => Err(fail(
                &format!(
                    "the {end} logs statements in place of rows, and what was compared may differ since"
                ),
                format!(
                    "{verb} at {at} of its binary log: a session still has binlog_format STATEMENT or MIXED (one keeps the format that it began \
                     with, whatever the global variable says), and UUID() or NOW() give something else on each server"
                ),
                "end the sessions that are older than binlog_format=ROW, or restart that application; then sealion migrate resume, which \
                 compares again; or sealion migrate rollback",
            )),
            Err(error) => Err(cannot_tell(format!("its binary log cannot be read: {}", error.in_one_line()))),
        }
    }
}

/// By the way in which replication goes now.
pub(crate) fn now(ends: &Ends) -> Result<String, StepError> {
    let forward = ends.forward();
    if forward.is_set_up()? {
        return at_one_transaction(&forward);
    }
    if let Some(back) = ends.back().filter(|back| back.is_set_up().unwrap_or(false)) {
        return at_one_transaction(&back);
    }
    // Killed while the target was opened: replication has ended, and nobody has written to either.
    let (mut source, mut target) = (forward.leader()?, forward.follower()?);
    if !super::is_read_only(&mut source, End::Source)? || !super::is_read_only(&mut target, End::Target)? {
        return Err(fail(
            "source and target cannot be compared",
            "neither follows the other, and one of them takes writes",
            "nothing says any more that they are equal: compare them by hand",
        ));
    }
    forward.nothing_since(&mut source)?;
    tables(&forward, &mut source, &mut target, "the end")
}

/// The follower stops behind that transaction.
pub(super) fn at_one_transaction(flow: &Flow<'_>) -> Result<String, StepError> {
    let (mut leader, mut follower) = (flow.leader()?, flow.follower()?);
    let lost = flow.filter_again(&mut follower)?;
    flow.is_same_log(&mut leader, &mut follower)?;
    let now = flow.written(&mut leader)?;
    flow.reach(&now, CATCH_UP_S)?;
    follower.execute("STOP SLAVE").map_err(asked(flow.to))?;
    let compared = stopped(flow, &mut follower);
    // It has stopped behind that transaction, or is still on its way there.
    for sql in ["STOP SLAVE", "START SLAVE"] {
        follower.execute(sql).map_err(asked(flow.to))?;
    }
    match lost {
        Some(lost) => compared.map(|said| format!("{said}; {lost}")),
        None => compared,
    }
}

fn stopped(flow: &Flow<'_>, follower: &mut Client) -> Result<String, StepError> {
    let mut snapshot = copy::snapshot(flow.ends, flow.from, 1)
        .map_err(|why| fail(&format!("there is no consistent snapshot of the {}", flow.from), why, RESUME))?;
    // Applications may change their tables for as long as it takes: then nothing is called equal.
    snapshot.guard = None;
    let Some(leader) = snapshot.sessions.first_mut() else { return Err(StepError("no session".into())) };
    let until = match &snapshot.place {
        Place::Gtid(gtid) => format!("MASTER_GTID_POS = {}", text(gtid)),
        Place::Log { file, at } => format!("MASTER_LOG_FILE = {}, MASTER_LOG_POS = {at}", text(file)),
    };
    follower.execute(&format!("START SLAVE UNTIL {until}")).map_err(asked(flow.to))?;
    // Its threads stop behind that transaction by themselves, and may have done so.
    flow.reach_until(&snapshot.place)?;
    tables(flow, leader, follower, &snapshot.place.to_string())
}

fn tables(
    flow: &Flow<'_>,
    leader: &mut Client,
    follower: &mut Client,
    at: &str,
) -> Result<String, StepError> {
    let tables = inspect::tables(leader, &flow.ends.schemas).map_err(asked(flow.from))?;
    flow.same_definitions(leader, follower, &tables)?;
    let (mut rows, mut differ) = (0, Vec::new());
    leader.set_io_timeout(TABLE_MAX).map_err(asked(flow.from))?;
    follower.set_io_timeout(TABLE_MAX).map_err(asked(flow.to))?;
    let by = if dialect::is_cross(leader, follower) { compare::By::Us } else { compare::By::Servers };
    for table in &tables {
        let said = |end: End| {
            let named = format!("{}.{}", table.schema, table.name);
            move |why: String| fail(&format!("{named} cannot be compared on the {end}"), why, RESUME)
        };
        let (here, there) = std::thread::scope(|scope| {
            let here = scope.spawn(|| compare::digest(leader, table, "", by));
            let there = compare::digest(follower, table, "", by);
            (here.join().unwrap_or_else(|_| Err("its thread has panicked".into())), there)
        });
        let (here, there) = (here.map_err(said(flow.from))?, there.map_err(said(flow.to))?);
        if here != there {
            let which = compare::differing(leader, follower, table, [flow.from, flow.to], by);
            let which = which.unwrap_or_else(|why| format!("which rows cannot be told: {why}"));
            let counts = format!("{} and {} rows", here.rows, there.rows);
            differ.push(format!("{}.{} ({counts}): {which}", table.schema, table.name));
        }
        rows += here.rows;
    }
    if differ.is_empty() {
        let tables = counted(tables.len(), "table", "tables");
        return Ok(format!("{} of {tables} are equal at {at}", counted(rows, "row", "rows")));
    }
    Err(fail(
        "source and target differ",
        format!("at {at}: {}", differ.join("; ")),
        &format!(
            "find out who wrote to the {}, and sealion migrate rollback; or put it right there, and sealion migrate resume",
            flow.to
        ),
    ))
}

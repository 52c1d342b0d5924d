//! Whether views, routines, triggers and events can be on the target as they are on a MariaDB source.

use net::{Client, NetError};

use super::{Problem, list, named, refuse_some};
use crate::Ends;
use crate::code::{Item, Kind, all};

fn global(client: &mut Client, variable: &str) -> Result<String, NetError> {
    let rows = client.query(&format!("SELECT @@GLOBAL.{variable}"))?;
    Ok(rows.scalar().unwrap_or_default().into_owned())
}

/// Of what is there; also asked when the rows are compared.
pub(super) fn cannot_move(
    source: &mut Client,
    schemas: &[String],
    problems: &mut Vec<Problem>,
) -> Result<(), NetError> {
    let within = list(schemas);
    let packages = named(&source.query(&format!(
        "SELECT CONCAT(ROUTINE_SCHEMA, '.', ROUTINE_NAME, ' (', LOWER(ROUTINE_TYPE), ')') FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA IN ({within}) AND ROUTINE_TYPE NOT IN ('FUNCTION', 'PROCEDURE')"
    ))?);
    refuse_some(
        problems,
        &packages,
        "packages of sql_mode=ORACLE",
        "this version of sealion does not move them, and would lose them",
        "migrate them by hand, after dropping them here for the time being, or leave their schema out",
    );
    let items = all(source, schemas)?;
    let unread: Vec<String> = items.iter().filter(|item| item.made.is_none()).map(Item::named).collect();
    refuse_some(
        problems,
        &unread,
        "views, routines, triggers or events whose text cannot be sent as it is",
        "the source does not show it to this account, or it was made in a character set other than UTF-8 with more than ASCII in it",
        "GRANT SELECT ON *.*, SHOW VIEW, TRIGGER, EVENT to the account; or make them anew with a client that uses utf8mb4",
    );
    let rows = source.query(&format!(
        "SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within})"
    ))?;
    let collation = |schema: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.at(0).as_deref() == Some(schema))
            .and_then(|row| row.at(1).map(std::borrow::Cow::into_owned))
    };
    let earlier: Vec<String> = items
        .iter()
        .filter(|item| item.schema_collation.is_some() && item.schema_collation != collation(&item.schema))
        .map(Item::named)
        .collect();
    refuse_some(
        problems,
        &earlier,
        "routines, triggers or events that were made when their schema had another collation",
        "made anew on the target, their variables would have the collation of today",
        "make them anew on the source, or leave their schema out",
    );
    Ok(())
}

/// A statement of a schema that stays behind is not followed, and a trigger of it may have written into one that moves.
///
/// # Source
/// Seen with MariaDB 10.11.19 and 11.8.9, whose default is MIXED: `replicate_wild_do_table` goes by the table of the statement, and what a trigger
/// wrote elsewhere was lost behind a cutover that said that everything is there.
fn rows_are_logged(
    ends: &Ends,
    source: &mut Client,
    target: &mut Client,
    problems: &mut Vec<Problem>,
) -> Result<(), NetError> {
    // Of MySQL it is asked for elsewhere, and nothing leads back to it.
    let is_asked = [(true, "source"), (ends.back.is_some(), "target")];
    for (is_asked, end) in is_asked {
        let client = if end == "source" { &mut *source } else { &mut *target };
        let format = if is_asked { global(client, "binlog_format")? } else { "ROW".to_owned() };
        if format != "ROW" {
            problems.push(Problem::new(
                format!("the binary log of the {end} does not hold rows"),
                format!("binlog_format is {format}: what a trigger of another schema writes comes as a statement of that schema, which is not followed"),
                format!(
                    "SET GLOBAL binlog_format = ROW on the {end}, and in its option file, and let applications connect again: sessions keep what they had"
                ),
            ));
        }
    }
    Ok(())
}

/// Of both servers.
pub(super) fn problems(
    ends: &Ends,
    source: &mut Client,
    target: &mut Client,
    problems: &mut Vec<Problem>,
) -> Result<(), NetError> {
    rows_are_logged(ends, source, target, problems)?;
    let items = all(source, &ends.schemas)?;
    let has = |kind: Kind| items.iter().any(|item| item.kind == kind);
    if has(Kind::Trigger) {
        let mut fires = Vec::new();
        if global(target, "slave_run_triggers_for_rbr")? != "NO" {
            fires.push("target");
        }
        if ends.back.is_some() && global(source, "slave_run_triggers_for_rbr")? != "NO" {
            fires.push("source");
        }
        if let Some(end) = fires.first() {
            problems.push(Problem::new(
                format!("triggers of the {end} fire for rows that come by replication"),
                "slave_run_triggers_for_rbr is not NO, and what triggers write comes by replication too: it would be there twice",
                "SET GLOBAL slave_run_triggers_for_rbr = NO there, after STOP SLAVE",
            ));
        }
    }
    let runs = items.iter().any(|item| item.kind == Kind::Event && item.is_enabled);
    if runs && global(source, "event_scheduler")? == "ON" && global(target, "event_scheduler")? != "ON" {
        problems.push(Problem::new(
            "events would not run on the target",
            "event_scheduler is ON on the source, and not on the target",
            "SET GLOBAL event_scheduler = ON on the target, and in its option file: those of the migration are disabled there until it is open",
        ));
    }
    if has(Kind::Event) && global(source, "system_time_zone")? != global(target, "system_time_zone")? {
        problems.push(Problem::new(
            "the servers are in different time zones, and there are events",
            "system_time_zone differs: an event with time_zone SYSTEM would run at another time",
            "start the target in the time zone of the source (TZ)",
        ));
    }
    Ok(())
}

//! What is in the schemas, and whether it can be on the target.

use net::{Client, NetError};

use super::{Problem, code, list, named, refuse_some};
use crate::{Ends, dialect};

/// Of the source's account: without these, triggers and events are not shown to it.
fn blind(source: &mut Client, schemas: &[String]) -> Result<Vec<&'static str>, NetError> {
    let mut lacking = Vec::new();
    let grantee = "CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";
    for privilege in ["TRIGGER", "EVENT", "SHOW VIEW"] {
        let rows = source.query(&format!(
            "SELECT (SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = '{privilege}' AND GRANTEE = \
             {grantee}) > 0 OR (SELECT COUNT(DISTINCT TABLE_SCHEMA) FROM information_schema.SCHEMA_PRIVILEGES \
             WHERE PRIVILEGE_TYPE = '{privilege}' AND GRANTEE = {grantee} AND TABLE_SCHEMA IN ({})) = {}",
            list(schemas),
            schemas.len()
        ))?;
        if rows.scalar().as_deref() != Some("1") {
            lacking.push(privilege);
        }
    }
    // Of a routine who has none of its privileges is shown nothing, but for who may read all.
    let rows = source.query(&format!(
        "SELECT COUNT(*) > 0 FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'SELECT' AND GRANTEE = {grantee}"
    ))?;
    if rows.scalar().as_deref() != Some("1") {
        lacking.push("SELECT");
    }
    Ok(lacking)
}

/// Schemas that both have, and that stay where they are. A filter of replication lets a statement pass as a whole if one of its tables is
/// ours, and statements about routines and events always, so that the follower's own could be changed.
///
/// # Source
/// Seen on MariaDB 11.8.9 with `replicate_wild_do_table`: DROP TABLE and RENAME TABLE of several schemas, DROP PROCEDURE, an UPDATE of two
/// schemas with `binlog_format=STATEMENT`.
pub(crate) fn of_both(
    leader: &mut Client,
    follower: &mut Client,
    schemas: &[String],
) -> Result<Option<Problem>, NetError> {
    const SYSTEMS: &str =
        "'mysql', 'sys', 'information_schema', 'performance_schema', 'sealion_canary', 'sealion_scratch'";
    let here = named(&leader.query("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")?);
    // One in which nothing is has nothing to lose.
    let there = named(&follower.query(&format!(
        "SELECT DISTINCT s FROM (SELECT TABLE_SCHEMA AS s FROM information_schema.TABLES UNION SELECT ROUTINE_SCHEMA FROM \
         information_schema.ROUTINES UNION SELECT EVENT_SCHEMA FROM information_schema.EVENTS) AS used \
         WHERE s NOT IN ({SYSTEMS}, {}) ORDER BY s",
        list(schemas)
    ))?);
    let both: Vec<&str> = there.iter().filter(|name| here.contains(name)).map(String::as_str).collect();
    Ok((!both.is_empty()).then(|| {
        Problem::new(
            format!("both servers have a schema {} that is not part of the migration", both.join(", ")),
            "replication passes statements that name tables of several schemas, and those about routines and events, whatever the filter says: \
             DROP or RENAME there could change what the other server has of its own",
            "name it with --schemas if it belongs to the source; else migrate to a server without a schema of that name, or rename it",
        )
    }))
}

/// Of the schemas, and of what is in them.
pub(super) fn problems(
    ends: &Ends,
    source: &mut Client,
    target: &mut Client,
    all: &mut Vec<Problem>,
) -> Result<(), NetError> {
    let within = list(&ends.schemas);
    let lacking = blind(source, &ends.schemas)?;
    if !lacking.is_empty() {
        all.push(Problem::new(
            format!("the account of the source lacks {}", lacking.join(", ")),
            "views, triggers, events or routines could be there, and it is not shown them",
            format!("GRANT {} ON *.* to it", lacking.join(", ")),
        ));
    }
    let there = named(&source.query(&format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within})"
    ))?);
    for schema in ends.schemas.iter().filter(|schema| !there.contains(schema)) {
        all.push(Problem::new(
            format!("the source has no schema {schema}, or it cannot be seen"),
            "SHOW DATABASES does not list it for this account",
            "check the name, and the privileges of the account",
        ));
    }
    let taken = named(&target.query(&format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within})"
    ))?);
    if !taken.is_empty() {
        all.push(Problem::new(
            format!("the target has {} already", taken.join(", ")),
            "nothing that is there is overwritten",
            "if a migration that is not finished made it: sealion migrate rollback; else choose another target, or move that schema away there",
        ));
    }
    all.extend(cannot_move(source, &ends.schemas)?);
    if !dialect::is_mysql(source) {
        code::problems(ends, source, target, all)?;
    }
    Ok(())
}

/// What is in these schemas and would not be on the target.
pub fn cannot_move(source: &mut Client, schemas: &[String]) -> Result<Vec<Problem>, NetError> {
    let mut all = Vec::new();
    let within = list(schemas);
    let engines = source.query(&format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', COALESCE(ENGINE, TABLE_TYPE), ')') FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA IN ({within}) AND TABLE_TYPE <> 'VIEW' \
         AND (ENGINE IS NULL OR ENGINE <> 'InnoDB' OR TABLE_TYPE <> 'BASE TABLE')"
    ))?;
    refuse_some(
        &mut all,
        &named(&engines),
        "tables that are not plain InnoDB",
        "they have no place in a consistent snapshot",
        "convert them (ALTER TABLE … ENGINE=InnoDB), or leave their schema out",
    );
    if dialect::is_mysql(source) {
        cannot_move_code(source, &within, &mut all)?;
    } else {
        code::cannot_move(source, schemas, &mut all)?;
    }
    let foreign = source.query(&format!(
        "SELECT CONCAT(CONSTRAINT_SCHEMA, '.', TABLE_NAME, ' (', UNIQUE_CONSTRAINT_SCHEMA, '.', REFERENCED_TABLE_NAME, ')') \
         FROM information_schema.REFERENTIAL_CONSTRAINTS \
         WHERE CONSTRAINT_SCHEMA IN ({within}) AND UNIQUE_CONSTRAINT_SCHEMA NOT IN ({within})"
    ))?;
    refuse_some(
        &mut all,
        &named(&foreign),
        "foreign keys to schemas that are not migrated",
        "the tables that they refer to would not be on the target",
        "migrate those schemas too: --schemas",
    );
    Ok(all)
}

/// From MySQL: what MariaDB makes of it is not known.
fn cannot_move_code(source: &mut Client, within: &str, all: &mut Vec<Problem>) -> Result<(), NetError> {
    let code = source.query(&format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (view)') FROM information_schema.VIEWS WHERE TABLE_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(TRIGGER_SCHEMA, '.', TRIGGER_NAME, ' (trigger)') FROM information_schema.TRIGGERS \
         WHERE TRIGGER_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(ROUTINE_SCHEMA, '.', ROUTINE_NAME, ' (routine)') FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA IN ({within}) \
         UNION ALL SELECT CONCAT(EVENT_SCHEMA, '.', EVENT_NAME, ' (event)') FROM information_schema.EVENTS \
         WHERE EVENT_SCHEMA IN ({within})"
    ))?;
    refuse_some(
        all,
        &named(&code),
        "views, triggers, routines or events",
        "from MySQL this version of sealion moves tables and their rows only, and would lose them",
        "migrate them by hand (mariadb-dump --no-data --routines --events --triggers), after dropping them here for the time being, \
         or leave their schema out",
    );
    Ok(())
}

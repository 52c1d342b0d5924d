//! Statements in a binary log that change rows by being carried out once more. A session that was open before `binlog_format` became
//! ROW goes on to write them, and what `UUID()` or `NOW()` gave on one server it does not give on the other: rows that were equal are
//! no longer so.
//!
//! Sources: MariaDB manual, Binary Log Formats ("the session keeps the format that it began with"), SHOW BINLOG EVENTS; MySQL manual,
//! Replication Formats.

use net::sql_text::text;
use net::{Client, NetError};

use crate::place::Place;

/// Read at once: the server may hold up commits while it answers.
const EVENTS: u64 = 5_000;
/// Verbs of a statement in the log that change no row by being carried out: the ends of transactions, and what changes definitions,
/// which are compared by themselves.
const HARMLESS: [&str; 22] = [
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "XA",
    "CREATE",
    "ALTER",
    "DROP",
    "RENAME",
    "TRUNCATE",
    "GRANT",
    "REVOKE",
    "SET",
    "ANALYZE",
    "OPTIMIZE",
    "REPAIR",
    "FLUSH",
    "INSTALL",
    "UNINSTALL",
    "COMMENT",
];
/// The event behind a `LOAD DATA` that is logged as a statement.
const LOAD: &str = "Execute_load_query";

/// A statement that changed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub at: String,
    /// Its first word. The text may hold what nobody else may read.
    pub verb: String,
}

/// How statements of other schemas can change rows of those that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    ByName,
    /// Triggers, views or routines of other schemas name them, or cannot be read: any statement may reach them through these.
    ThroughOthers,
}

/// # Errors
/// The server refuses it, or goes.
fn reached(client: &mut Client, schemas: &[String]) -> Result<Reached, NetError> {
    let ours: Vec<String> = schemas.iter().map(|schema| text(schema)).collect();
    let ours = ours.join(", ");
    for (table, schema, body) in [
        ("TRIGGERS", "TRIGGER_SCHEMA", "ACTION_STATEMENT"),
        ("VIEWS", "TABLE_SCHEMA", "VIEW_DEFINITION"),
        ("ROUTINES", "ROUTINE_SCHEMA", "ROUTINE_DEFINITION"),
    ] {
        let rows = client.query(&format!(
            "SELECT {body} FROM information_schema.{table} WHERE {schema} NOT IN ({ours}, 'mysql', 'sys', 'information_schema', \
             'performance_schema')"
        ))?;
        let reaches = |sql: Option<std::borrow::Cow<'_, str>>| match sql.as_deref() {
            None | Some("") => true,
            Some(sql) => schemas.iter().any(|schema| !schema.is_ascii() || names(sql, schema)),
        };
        if rows.iter().any(|row| reaches(row.at(0))) {
            return Ok(Reached::ThroughOthers);
        }
    }
    Ok(Reached::ByName)
}

/// What lies between a place in a binary log and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Since {
    /// Rows only, up to there.
    Rows {
        end: Place,
    },
    Statement(Written),
    /// The place is in no file of this log any more.
    Lost,
}

/// Whether an event changes rows of these schemas by a statement; its verb.
///
/// One that neither is carried out in one of them nor names one changes other schemas, which are not followed (`pt-heartbeat` writes
/// such statements on purpose).
fn statement_of(kind: &str, info: &str, schemas: &[String], reached: Reached) -> Option<String> {
    if !kind.starts_with("Query") && kind != LOAD {
        return None;
    }
    let (used, sql) = use_of(info);
    let sql = without_comments(sql);
    let verb: String = sql.chars().take_while(char::is_ascii_alphabetic).collect();
    let verb = verb.to_ascii_uppercase();
    // MariaDB: `SET STATEMENT … FOR INSERT …`, and `ANALYZE FORMAT=JSON UPDATE …`, which is carried out.
    let makes_rows = match verb.as_str() {
        "CREATE" => makes_table_of_rows(sql),
        "SET" => second_word(sql) == "STATEMENT",
        "ANALYZE" => !["TABLE", "LOCAL", "NO_WRITE_TO_BINLOG"].contains(&second_word(sql).as_str()),
        _ => false,
    };
    if HARMLESS.contains(&verb.as_str()) && !makes_rows {
        return None;
    }
    let is_elsewhere = reached == Reached::ByName
        && !verb.is_empty()
        && schemas.iter().all(|schema| {
            schema.is_ascii()
                && used.as_deref().is_some_and(|used| !used.eq_ignore_ascii_case(schema))
                && !names(sql, schema)
        });
    (!is_elsewhere).then(|| if verb.is_empty() { "?".to_owned() } else { verb })
}

fn second_word(sql: &str) -> String {
    let rest = sql.trim_start_matches(|one: char| one.is_ascii_alphabetic());
    let is_part = |one: &char| one.is_ascii_alphanumeric() || *one == '_';
    without_comments(rest).chars().take_while(is_part).collect::<String>().to_ascii_uppercase()
}

/// Whether a statement has this word, in whatever quotes.
fn names(sql: &str, schema: &str) -> bool {
    let (sql, schema) = (sql.to_ascii_lowercase(), schema.to_ascii_lowercase());
    let is_part =
        |one: Option<char>| one.is_some_and(|one| one.is_alphanumeric() || one == '_' || one == '$');
    [schema.replace('`', "``"), schema.replace('"', "\"\""), schema].iter().any(|word| {
        sql.match_indices(word.as_str()).any(|(at, _)| {
            !is_part(sql[..at].chars().next_back()) && !is_part(sql[at + word.len()..].chars().next())
        })
    })
}

/// The schema of the `use schema; ` that the server puts in front, and what is behind it.
fn use_of(info: &str) -> (Option<String>, &str) {
    let Some(mut rest) = info.strip_prefix("use `") else { return (None, info) };
    let mut name = String::new();
    while let Some(at) = rest.find('`') {
        let (part, tail) = (&rest[..at], &rest[at + 1..]);
        name.push_str(part);
        match tail.strip_prefix('`') {
            // A backtick in a name is doubled.
            Some(more) => {
                name.push('`');
                rest = more;
            }
            None => return (Some(name), tail.strip_prefix("; ").unwrap_or(tail)),
        }
    }
    (None, info)
}

/// Without white space and comments at its begin; a comment with a version is what it holds.
fn without_comments(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("/*!").or_else(|| rest.strip_prefix("/*M!")) {
            return comment.trim_start_matches(|one: char| one.is_ascii_digit()).trim_start();
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => comment[end + 2..].trim_start(),
                None => return "",
            }
        } else if let Some(line) = rest.strip_prefix("-- ").or_else(|| rest.strip_prefix('#')) {
            match line.find('\n') {
                Some(end) => line[end + 1..].trim_start(),
                None => return "",
            }
        } else {
            return rest;
        };
    }
}

/// `CREATE TABLE … SELECT`, whose rows each server makes by itself. In the format ROW it is logged without its SELECT.
fn makes_table_of_rows(sql: &str) -> bool {
    let upper = sql.to_ascii_uppercase();
    let mut words =
        upper.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').filter(|word| !word.is_empty());
    let is_of_table =
        words.by_ref().skip(1).find(|word| !["OR", "REPLACE", "TEMPORARY"].contains(word)) == Some("TABLE");
    is_of_table && words.any(|word| word == "SELECT" || word == "VALUES")
}

/// Reads the log from there to its end.
///
/// # Errors
/// The server refuses it, or goes.
pub(crate) fn since(client: &mut Client, place: (&str, u64), schemas: &[String]) -> Result<Since, NetError> {
    let (file, at) = place;
    let rows = client.query("SHOW BINARY LOGS")?;
    let files = rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned));
    let behind: Vec<String> = files.skip_while(|one| one != file).collect();
    let reached = reached(client, schemas)?;
    let mut end = None;
    for one in behind {
        let mut from = if one == file { at } else { 4 };
        loop {
            let sql = format!("SHOW BINLOG EVENTS IN {} FROM {from} LIMIT {EVENTS}", text(&one));
            let rows = client.query(&sql)?;
            let mut last = from;
            for row in 0..rows.len() {
                let of = |name: &str| rows.text(row, name).unwrap_or_default();
                if let Some(verb) = statement_of(&of("Event_type"), &of("Info"), schemas, reached) {
                    return Ok(Since::Statement(Written { at: format!("{one}:{}", of("Pos")), verb }));
                }
                last = of("End_log_pos").parse().unwrap_or(last).max(last);
            }
            end = Some(Place::Log { file: one.clone(), at: last });
            // Fewer than were asked for, or no way on.
            if (rows.len() as u64) < EVENTS || last <= from {
                break;
            }
            from = last;
        }
    }
    Ok(end.map_or(Since::Lost, |end| Since::Rows { end }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statements_are_told_from_rows_and_definitions() {
        for (kind, info, verb) in [
            ("Query", "use `shop`; INSERT INTO t VALUES (UUID())", Some("INSERT")),
            ("Query", "use `a``b; c`; update shop.t set a = 1", Some("UPDATE")),
            ("Query", "use `percona`; REPLACE INTO `percona`.`heartbeat` VALUES (NOW())", None),
            ("Query", "use `other`; INSERT INTO t SELECT * FROM `Shop`.t", Some("INSERT")),
            ("Query", "use `other`; INSERT INTO workshop VALUES (1)", None),
            // Without a schema of its own nobody can tell.
            ("Query", "INSERT INTO other.t VALUES (1)", Some("INSERT")),
            ("Query", "/* app */ DELETE FROM t", Some("DELETE")),
            ("Query", "/*!50000 REPLACE INTO t VALUES (1) */", Some("REPLACE")),
            ("Query", "-- x\nINSERT INTO t VALUES (1)", Some("INSERT")),
            ("Query_compressed", "INSERT INTO t VALUES (1)", Some("INSERT")),
            ("Query", "use `shop`; CREATE TABLE n AS SELECT UUID()", Some("CREATE")),
            ("Query", "CREATE OR REPLACE TEMPORARY TABLE n (a INT) SELECT 1", Some("CREATE")),
            ("Query", "SELECT f()", Some("SELECT")),
            (
                "Query",
                "use `shop`; SET STATEMENT max_statement_time=10 FOR INSERT INTO t VALUES (UUID())",
                Some("SET"),
            ),
            ("Query", "use `shop`; SET /* x */ statement a=1 FOR DELETE FROM t", Some("SET")),
            ("Query", "use `shop`; ANALYZE FORMAT=JSON UPDATE t SET u=UUID()", Some("ANALYZE")),
            ("Query", "use `shop`; ANALYZE INSERT INTO t VALUES (1)", Some("ANALYZE")),
            ("Query", "use `shop`; ANALYZE TABLE t", None),
            ("Query", "SET PASSWORD FOR a@b = 'x'", None),
            ("Query", "/* never ended INSERT", Some("?")),
            ("Query", "", Some("?")),
            ("Execute_load_query", "use `shop`; LOAD DATA", Some("LOAD")),
            ("Intvar", "INSERT_ID=1", None),
            ("Query", "BEGIN", None),
            ("Query", "use `shop`; CREATE TABLE n (selected INT)", None),
            ("Query", "use `shop`; CREATE VIEW v AS SELECT 1", None),
            ("Query", "use `shop`; ALTER TABLE t FORCE", None),
            ("Query", "COMMIT", None),
            ("Annotate_rows", "INSERT INTO t VALUES (1)", None),
            ("Write_rows_v1", "table_id: 1 flags: STMT_END_F", None),
            ("Gtid", "BEGIN GTID 0-1-2", None),
            ("Xid", "COMMIT /* xid=1 */", None),
        ] {
            let schemas = ["shop".to_owned()];
            assert_eq!(statement_of(kind, info, &schemas, Reached::ByName).as_deref(), verb, "{kind} {info}");
            if verb.is_some() {
                assert!(
                    statement_of(kind, info, &schemas, Reached::ThroughOthers).is_some(),
                    "{kind} {info}"
                );
            }
        }
    }

    #[test]
    fn a_statement_elsewhere_counts_where_views_or_triggers_lead_here() {
        let heartbeat = "use `percona`; REPLACE INTO heartbeat VALUES (NOW())";
        let of = |reached| statement_of("Query", heartbeat, &["shop".to_owned()], reached);
        assert_eq!((of(Reached::ByName), of(Reached::ThroughOthers)), (None, Some("REPLACE".into())));
    }

    proptest! {
        #[test]
        fn no_event_panics(kind in "(Query|Xid|[A-Za-z_]{0,12})", info in "(use `)?[ -~`;/*!#äö\n]{0,60}") {
            let _ = statement_of(&kind, &info, &["a`ö".into(), "b".into()], Reached::ByName);
        }
    }
}

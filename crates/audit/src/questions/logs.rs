//! What the server writes down of statements and logins.

use model::{Value, facts};
use server::{Flavour, NodeView};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::rest::some;
use super::settings::{is_on, number, variable_says};

pub const QUESTION: Question = Question {
    name: "logs",
    facts: &[
        &facts::log::ROW_STATEMENTS,
        &facts::log::BINLOG_STATEMENTS,
        &facts::log::TABLES,
        &facts::log::CORE_FILE,
        &facts::log::SLOW,
        &facts::log::REFUSED_LOGINS,
        &facts::log::BINLOG_EXPIRES,
        &facts::log::AUDITS,
        &facts::log::AUDIT_GAPS,
        &facts::log::HISTORY,
    ],
    grants: |_| vec![Grant::select(CONSUMERS)],
    ask: |asking| {
        of_binlog(asking);
        of_statements(asking);
        let core = is_on(asking, "core_file");
        asking.note(&facts::log::CORE_FILE, core, &variable_says("core_file"));
        if asking.capabilities.flavour == Flavour::MariaDb {
            of_audit_plugin(asking);
        }
        let history = history(asking)?;
        asking.note(&facts::log::HISTORY, history, HISTORIES);
        Ok(())
    },
};

const CONSUMERS: &str = "performance_schema.setup_consumers";
pub(super) const HISTORIES: &str = "SELECT NAME FROM performance_schema.setup_consumers \
                         WHERE ENABLED = 'YES' AND LEFT(NAME, 25) = 'events_statements_history'";

/// Without the performance schema the table is empty, whatever it would keep.
fn history(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    match is_on(asking, "performance_schema") {
        Value::Bool(true) => {}
        Value::Bool(false) => return Ok(Value::Absent),
        other => return Ok(other),
    }
    Ok(match asking.rows_with(&[Grant::select(CONSUMERS)], HISTORIES)? {
        Ok(rows) => some(rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned))),
        Err(why) => Value::Unknown(why),
    })
}

/// From this value on a refused login is written. Source: MariaDB manual, log_warnings; tried on MySQL 9.7.4, where it is a note.
const LOG_WARNINGS_MIN: i64 = 2;
const LOG_ERROR_VERBOSITY_MIN: i64 = 3;

fn of_binlog(asking: &mut Asking<'_>) {
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let is_written = is_on(asking, "log_bin");
    let where_written = |value: Value| match &is_written {
        Value::Bool(true) => value,
        Value::Bool(false) => Value::Absent,
        other => other.clone(),
    };
    let rows = if is_mariadb { "binlog_annotate_row_events" } else { "binlog_rows_query_log_events" };
    let statements = where_written(is_on(asking, rows));
    asking.note(&facts::log::ROW_STATEMENTS, statements, &variable_says(rows));
    let format = match asking.view.variable("binlog_format") {
        Some("ROW") => Value::Absent,
        Some(other) => Value::Text(format!("binlog_format is {other}")),
        // A server that has only rows has no such variable any more.
        None if !is_mariadb => Value::Absent,
        None => Value::Unknown("the server has no binlog_format".into()),
    };
    asking.note(&facts::log::BINLOG_STATEMENTS, where_written(format), &variable_says("binlog_format"));
    let expires = expires(asking.view);
    asking.note(&facts::log::BINLOG_EXPIRES, where_written(expires), &variable_says("%expire_logs%"));
}

/// Either variable is enough; MySQL before 8.0 and MariaDB before 10.6 have days only.
fn expires(view: &NodeView) -> Value {
    let values: Vec<f64> = ["binlog_expire_logs_seconds", "expire_logs_days"]
        .iter()
        .filter_map(|name| view.variable(name)?.parse().ok())
        .collect();
    if values.is_empty() {
        return Value::Unknown("the server does not say when binary logs are removed".into());
    }
    let is_switched_off = view.variable("binlog_expire_logs_auto_purge") == Some("OFF");
    Value::Bool(!is_switched_off && values.iter().any(|value| *value > 0.0))
}

fn of_statements(asking: &mut Asking<'_>) {
    let slow = is_on(asking, "slow_query_log");
    let output = asking.view.variable("log_output").unwrap_or_default().to_ascii_uppercase();
    let has = |word: &str| output.split(',').any(|one| one.trim() == word);
    let general = is_on(asking, "general_log");
    // With NONE among them nothing is written at all.
    let tables = if output.is_empty() {
        Value::Unknown("the server has no log_output".into())
    } else if has("TABLE") && !has("NONE") {
        let on: Vec<&str> = [("mysql.general_log", &general), ("mysql.slow_log", &slow)]
            .iter()
            .filter(|(_, value)| **value == Value::Bool(true))
            .map(|(name, _)| *name)
            .collect();
        if on.is_empty() { Value::Absent } else { Value::Text(on.join(", ")) }
    } else {
        Value::Absent
    };
    asking.note(&facts::log::TABLES, tables, &variable_says("log_output"));
    let slow = if has("NONE") { Value::Bool(false) } else { slow };
    asking.note(&facts::log::SLOW, slow, &variable_says("slow_query_log"));
    let (variable, least) = if asking.capabilities.flavour == Flavour::MariaDb {
        ("log_warnings", LOG_WARNINGS_MIN)
    } else {
        ("log_error_verbosity", LOG_ERROR_VERBOSITY_MIN)
    };
    let logged = number(asking.view, variable).map_or_else(
        || Value::Unknown(format!("the server has no {variable}")),
        |level| Value::Bool(level >= least),
    );
    asking.note(&facts::log::REFUSED_LOGINS, logged, &variable_says(variable));
}

/// Source: MariaDB manual, MariaDB Audit Plugin Options and System Variables. The plugin brings the variables.
fn of_audit_plugin(asking: &mut Asking<'_>) {
    let (audits, gaps) = match asking.view.variable("server_audit_logging") {
        None => (Value::Bool(false), Value::Absent),
        Some(_) => (is_on(asking, "server_audit_logging"), audit_gaps(asking.view)),
    };
    asking.note(&facts::log::AUDITS, audits, &variable_says("server_audit_logging"));
    asking.note(&facts::log::AUDIT_GAPS, gaps, &variable_says("server_audit%"));
}

fn audit_gaps(view: &NodeView) -> Value {
    let text = |name: &str| view.variable(name).unwrap_or_default();
    let mut gaps = Vec::new();
    let excluded = text("server_audit_excl_users");
    if !excluded.is_empty() {
        gaps.push(format!("it leaves out {excluded}"));
    }
    let included = text("server_audit_incl_users");
    if !included.is_empty() {
        gaps.push(format!("it records {included} only"));
    }
    // Empty is all of them.
    let events = text("server_audit_events").to_ascii_uppercase();
    let has = |word: &str| events.split(',').any(|one| one.trim() == word);
    if !events.is_empty() {
        if !has("CONNECT") {
            gaps.push("it records no logins".to_owned());
        }
        if !has("QUERY") && !has("QUERY_DCL") {
            gaps.push("it records no changes of privileges".to_owned());
        }
    }
    if gaps.is_empty() { Value::Absent } else { Value::Text(gaps.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(variables: &[(&str, &str)]) -> NodeView {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        NodeView { variables, ..NodeView::default() }
    }

    #[test]
    fn binary_logs_expire_by_either_variable_unless_that_is_switched_off() {
        let of = |variables: &[(&str, &str)]| expires(&view(variables));
        assert!(matches!(of(&[]), Value::Unknown(_)));
        // As MariaDB 10.11.19 writes them.
        let never = [("binlog_expire_logs_seconds", "0"), ("expire_logs_days", "0.000000")];
        assert_eq!(of(&never), Value::Bool(false));
        assert_eq!(of(&[("expire_logs_days", "0.500000")]), Value::Bool(true));
        let seconds = ("binlog_expire_logs_seconds", "2592000");
        assert_eq!(of(&[seconds]), Value::Bool(true));
        assert_eq!(of(&[seconds, ("binlog_expire_logs_auto_purge", "OFF")]), Value::Bool(false));
    }

    #[test]
    fn an_audit_plugin_that_leaves_somebody_or_something_out_is_told() {
        for (variables, expected) in [
            (&[("server_audit_events", "")][..], None),
            (&[("server_audit_events", "connect,query_dcl")], None),
            (&[("server_audit_events", "CONNECT,QUERY")], None),
            (&[("server_audit_events", "CONNECT,QUERY_DML")], Some("it records no changes of privileges")),
            (&[("server_audit_events", "QUERY")], Some("it records no logins")),
            (&[("server_audit_excl_users", "root")], Some("it leaves out root")),
            (&[("server_audit_incl_users", "web")], Some("it records web only")),
        ] {
            let expected = expected.map_or(Value::Absent, |text| Value::Text(text.to_owned()));
            assert_eq!(audit_gaps(&view(variables)), expected, "{variables:?}");
        }
    }
}

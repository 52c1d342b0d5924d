//! The settings of a session that decide which rows a statement returns, and how they read. A server gives each session its
//! global values, and `init_connect` may change them again for every account without SUPER or CONNECTION_ADMIN: with some of
//! them the same statement returns fewer rows, other text or history, and no error. `= DEFAULT` does not help: in a session it
//! means the global value. So each one is set to a value, and read back.

use std::borrow::Cow;

use super::Client;
use crate::error::NetError;

/// A variable, the values that are acceptable, and what it is set to where the server has another one.
struct Mode {
    variable: &'static str,
    accepted: &'static [&'static str],
    value: &'static str,
}

const fn mode(variable: &'static str, accepted: &'static [&'static str], value: &'static str) -> Mode {
    Mode { variable, accepted, value }
}

/// ER_UNKNOWN_COM_ERROR.
const UNKNOWN_COMMAND: u16 = 1047;
const UNLIMITED: &str = "18446744073709551615";
/// In each server since MySQL 5.5.3, and the one that the login asks for.
const COLLATION: &str = "utf8mb4_general_ci";

/// Set blindly, since each server has them, and since some of them cut the answer to the question for the others.
///
/// Sources: both manuals, Server System Variables. `sql_select_limit` cuts rows without a warning; `max_join_size` ends a join
/// with error 1104, and setting it changes `sql_big_selects`, which therefore comes after it; `sql_mode` as a number, since
/// EMPTY_STRING_IS_NULL makes `''` a NULL.
const FIRST: &str = "SET SESSION sql_mode = 0, SESSION sql_select_limit = 18446744073709551615, \
     SESSION max_join_size = 18446744073709551615, SESSION sql_big_selects = 1, SESSION sql_safe_updates = 0, \
     SESSION sql_auto_is_null = 0, SESSION sql_quote_show_create = 1, SESSION autocommit = 1, \
     SESSION group_concat_max_len = 1073741824, SESSION time_zone = '+00:00', timestamp = DEFAULT, SESSION character_set_client = utf8mb4, \
     SESSION character_set_results = utf8mb4, SESSION collation_connection = utf8mb4_general_ci";

/// All that are read back. A server that does not list one does not have it.
const MODES: &[Mode] = &[
    mode("sql_mode", &[""], "0"),
    mode("sql_select_limit", &[UNLIMITED], UNLIMITED),
    mode("max_join_size", &[UNLIMITED], UNLIMITED),
    mode("sql_big_selects", &["ON"], "1"),
    mode("sql_safe_updates", &["OFF"], "0"),
    mode("sql_auto_is_null", &["OFF"], "0"),
    mode("sql_quote_show_create", &["ON"], "1"),
    // With OFF nothing that is written is ever committed, and everything is read as it was at the first statement.
    mode("autocommit", &["ON"], "1"),
    mode("completion_type", &["NO_CHAIN"], "0"),
    mode("tx_isolation", &["REPEATABLE-READ"], "'REPEATABLE-READ'"),
    mode("transaction_isolation", &["REPEATABLE-READ"], "'REPEATABLE-READ'"),
    mode("tx_read_only", &["OFF"], "0"),
    mode("transaction_read_only", &["OFF"], "0"),
    // Galera: with RSU a definition stays on this node, and rows of a table that only it has break all others.
    mode("wsrep_OSU_method", &["TOI"], "'TOI'"),
    mode("innodb_compression_default", &["OFF"], "0"),
    mode("max_statement_time", &["0", "0.000000"], "0"),
    mode("max_execution_time", &["0"], "0"),
    // Cut with a warning that nobody reads. 1 GiB is below the limit of each server.
    mode("group_concat_max_len", &["1073741824"], "1073741824"),
    mode("max_sort_length", &["1024"], "1024"),
    // Notes are part of the number of warnings.
    mode("sql_notes", &["ON"], "1"),
    mode("time_zone", &["+00:00"], "'+00:00'"),
    mode("lc_time_names", &["en_US"], "'en_US'"),
    mode("div_precision_increment", &["4"], "4"),
    mode("default_week_format", &["0"], "0"),
    mode("character_set_client", &["utf8mb4"], "utf8mb4"),
    mode("character_set_connection", &["utf8mb4"], "utf8mb4"),
    mode("character_set_results", &["utf8mb4"], "utf8mb4"),
    mode("collation_connection", &[COLLATION], COLLATION),
    // MariaDB: a time here makes each SELECT read the history of versioned tables.
    mode("system_versioning_asof", &["DEFAULT"], "DEFAULT"),
    // MariaDB: ZERO_DATE_TIME_CAST changes values. UTF8_IS_UTF8MB3 is a default.
    mode("old_mode", &["", "UTF8_IS_UTF8MB3"], "''"),
    // MariaDB: each DROP succeeds.
    mode("sql_if_exists", &["OFF"], "0"),
    mode("foreign_key_checks", &["ON"], "1"),
    mode("unique_checks", &["ON"], "1"),
    mode("check_constraint_checks", &["ON"], "1"),
    // MySQL: what SHOW CREATE prints.
    mode("print_identified_with_as_hex", &["OFF"], "0"),
    mode("show_gipk_in_create_table_and_information_schema", &["ON"], "1"),
    mode("show_create_table_verbosity", &["OFF"], "0"),
    mode("show_old_temporals", &["OFF"], "0"),
];

/// Sets them, and reads them back. None needs a privilege.
///
/// # Errors
/// [`NetError::Modes`] where one is not what it must be: no answer after that could be trusted.
pub(super) fn set(client: &mut Client) -> Result<(), NetError> {
    // What init_connect did beside variables (temporary tables before real ones, locks, a transaction) goes with a session that begins
    // anew; init_connect is not run again. Servers before MySQL 5.7.3 and MariaDB 10.2.4 do not know the command.
    match client.reset() {
        Ok(()) | Err(NetError::Refused { code: UNKNOWN_COMMAND, .. }) => {}
        Err(error) => return Err(error),
    }
    client.execute(FIRST)?;
    let odd = odd(client)?;
    if odd.is_empty() {
        return Ok(());
    }
    let all: Vec<String> =
        odd.iter().map(|(mode, _)| format!("SESSION {} = {}", mode.variable, mode.value)).collect();
    client.execute(&format!("SET {}", all.join(", ")))?;
    match self::odd(client)?.first() {
        None => Ok(()),
        Some((mode, found)) => Err(client.unfit(mode.variable, found, mode.value)),
    }
}

/// Those that the server has with another value, and that value.
///
/// SHOW, since a Galera node that is not Primary answers it, and refuses SELECT (MariaDB, error 1047).
fn odd(client: &mut Client) -> Result<Vec<(&'static Mode, String)>, NetError> {
    let names: Vec<String> = MODES.iter().map(|mode| format!("'{}'", mode.variable)).collect();
    let sql = format!("SHOW SESSION VARIABLES WHERE Variable_name IN ({})", names.join(","));
    let rows = client.query(&sql)?;
    let mut odd = Vec::new();
    for mode in MODES {
        let found = rows.iter().find_map(|row| {
            let is_it = row.at(0).is_some_and(|name| name.eq_ignore_ascii_case(mode.variable));
            is_it.then(|| row.at(1).map(Cow::into_owned).unwrap_or_default())
        });
        match found {
            Some(found) if !mode.accepted.contains(&found.as_str()) => odd.push((mode, found)),
            Some(_) => {}
            // Each server has this one: rows are missing in the answer.
            None if mode.variable == "sql_select_limit" => {
                return Err(client.unfit(mode.variable, "not listed", mode.value));
            }
            None => {}
        }
    }
    Ok(odd)
}

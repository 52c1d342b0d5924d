//! The binary log in row format holds no statements.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const ROW_STATEMENTS: FactRule = FactRule {
    id: "SL4205",
    title: "The binary log in row format holds no statements",
    severity: Severity::Medium,
    references: &["MariaDB manual: binlog_annotate_row_events", "MySQL manual: binlog_rows_query_log_events"],
    explanation: "Beside the rows the server writes the statement that changed them, with the literals in it: keys of AES_ENCRYPT and passwords that an application hashes in SQL. MariaDB does so by default.",
    remedy: "binlog_annotate_row_events=OFF (MariaDB), binlog_rows_query_log_events=OFF (MySQL) in the [mysqld] group of the option file, and SET GLOBAL",
    fact: &log::ROW_STATEMENTS,
    judge: |value| crate::verdicts::no(value, "statements are written beside their rows"),
};

//! Logs of statements are not tables.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const LOG_TABLES: FactRule = FactRule {
    id: "SL4208",
    title: "Logs of statements are not tables",
    severity: Severity::Medium,
    references: &["MariaDB manual: log_output", "MySQL manual: log_output"],
    explanation: "With TABLE in log_output the general and the slow query log are CSV tables of the schema mysql: whoever may read that schema reads every statement, and no engine encrypts them.",
    remedy: "log_output=FILE in the [mysqld] group of the option file, and SET GLOBAL log_output = 'FILE'; then TRUNCATE the tables",
    fact: &log::TABLES,
    judge: crate::verdicts::absent,
};

//! Binary logs are removed after a time.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const BINLOG_EXPIRY: FactRule = FactRule {
    id: "SL4220",
    title: "Binary logs are removed after a time",
    severity: Severity::Low,
    references: &["MariaDB manual: binlog_expire_logs_seconds", "MySQL manual: binlog_expire_logs_seconds"],
    explanation: "Rows that were deleted from a table still stand in the binary log. Without a limit it is kept until the disk is full, and so is every copy that a thief could take.",
    remedy: "binlog_expire_logs_seconds=2592000 in the [mysqld] group of the option file, and SET GLOBAL binlog_expire_logs_seconds = 2592000",
    fact: &log::BINLOG_EXPIRES,
    judge: |value| crate::verdicts::yes(value, "binary logs are kept for ever"),
};

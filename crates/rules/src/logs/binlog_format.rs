//! The binary log has rows, not statements.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const BINLOG_FORMAT: FactRule = FactRule {
    id: "SL4206",
    title: "The binary log has rows, not statements",
    severity: Severity::Medium,
    references: &["MariaDB manual: binlog_format", "MySQL manual: binlog_format"],
    explanation: "In the formats STATEMENT and MIXED the text of a statement is what is logged, with every literal in it: keys of AES_ENCRYPT, passwords, data. Replicas, backups and tools that read the log get them too.",
    remedy: "binlog_format=ROW in the [mysqld] group of the option file, and SET GLOBAL binlog_format = ROW",
    fact: &log::BINLOG_STATEMENTS,
    judge: crate::verdicts::absent,
};

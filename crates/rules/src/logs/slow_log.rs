//! Slow statements are not written to a log.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const SLOW_LOG: FactRule = FactRule {
    id: "SL4217",
    title: "Slow statements are not written to a log",
    severity: Severity::Low,
    references: &["MariaDB manual: Slow Query Log Overview", "MySQL manual: The Slow Query Log"],
    explanation: "The slow query log holds statements with their literals. MariaDB writes passwords of CREATE USER there as they are; MySQL hides those, but no key of AES_ENCRYPT and no data. The digests of performance_schema tell which statements are slow without a literal.",
    remedy: "slow_query_log=OFF in the [mysqld] group of the option file, and SET GLOBAL slow_query_log = OFF; where it is needed, a directory that only the server can read",
    fact: &log::SLOW,
    judge: |value| crate::verdicts::no(value, "slow_query_log is ON"),
};

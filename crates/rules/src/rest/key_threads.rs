//! Background threads encrypt what is there already.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEY_THREADS: FactRule = FactRule {
    id: "SL4011",
    title: "Background threads encrypt what is there already",
    severity: Severity::Medium,
    references: &["MariaDB manual: innodb_encryption_threads"],
    explanation: "With innodb_encryption_threads=0 MariaDB encrypts what is written anew and leaves the rest in cleartext for ever. The rule speaks only where tables are to be encrypted.",
    remedy: "innodb_encryption_threads=4 in the [mysqld] group of the option file, and SET GLOBAL innodb_encryption_threads = 4",
    fact: &rest::KEY_THREADS,
    judge: |value| crate::verdicts::at_least(value, 1, "threads"),
};

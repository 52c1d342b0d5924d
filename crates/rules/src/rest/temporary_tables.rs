//! The server is set to encrypt InnoDB temporary tables.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const TEMPORARY_TABLES: FactRule = FactRule {
    id: "SL4018",
    title: "The server is set to encrypt InnoDB temporary tables",
    severity: Severity::Medium,
    references: &["MariaDB manual: innodb_encrypt_temporary_tables"],
    explanation: "What is put into a temporary table stands in the tablespace ibtmp1, which innodb_encrypt_tables does not reach.",
    remedy: "innodb_encrypt_temporary_tables=ON in the [mysqld] group of the option file, with a key provider, then restart",
    fact: &rest::INNODB_TEMPORARY_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "innodb_encrypt_temporary_tables is OFF"),
};

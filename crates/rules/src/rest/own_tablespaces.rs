//! New tables do not go into the system tablespace.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const OWN_TABLESPACES: FactRule = FactRule {
    id: "SL4019",
    title: "New tables do not go into the system tablespace",
    severity: Severity::Medium,
    references: &["MySQL manual: innodb_file_per_table"],
    explanation: "MySQL cannot encrypt the system tablespace, and on both flavours a table leaves its rows there when it is dropped or moved.",
    remedy: "SET GLOBAL innodb_file_per_table = ON, and the same in the [mysqld] group of the option file; ALTER TABLE … FORCE for those that are there",
    fact: &rest::SHARED_TABLESPACE,
    judge: |value| crate::verdicts::no(value, "innodb_file_per_table is OFF"),
};

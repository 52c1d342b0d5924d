//! The server is set to encrypt internal temporary tables.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const TEMPORARY_TABLES_ON_DISK: FactRule = FactRule {
    id: "SL4014",
    title: "The server is set to encrypt internal temporary tables",
    severity: Severity::Medium,
    references: &["MariaDB manual: encrypt_tmp_disk_tables"],
    explanation: "A query whose intermediate result does not fit into memory writes it to an Aria table in tmpdir.",
    remedy: "encrypt_tmp_disk_tables=ON in the [mysqld] group of the option file, with a key provider",
    fact: &rest::TEMPORARY_TABLES_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "encrypt_tmp_disk_tables is OFF"),
};

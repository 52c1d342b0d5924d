//! The server is set to encrypt its redo log.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const REDO: FactRule = FactRule {
    id: "SL4004",
    title: "The server is set to encrypt its redo log",
    severity: Severity::High,
    references: &["MariaDB manual: innodb_encrypt_log", "MySQL manual: innodb_redo_log_encrypt"],
    explanation: "Each changed row stands in the redo log before it stands in its table, also where the table is encrypted. The setting counts for what is written from then on; sealion status rest reads what is in the files.",
    remedy: "innodb_encrypt_log=ON (MariaDB), innodb_redo_log_encrypt=ON (MySQL) in the [mysqld] group of the option file, with a key provider",
    fact: &rest::REDO_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "it is written in cleartext"),
};

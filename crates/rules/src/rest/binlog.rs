//! The server is set to encrypt its binary log.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const BINLOG: FactRule = FactRule {
    id: "SL4006",
    title: "The server is set to encrypt its binary log",
    severity: Severity::High,
    references: &["MariaDB manual: encrypt_binlog", "MySQL manual: binlog_encryption"],
    explanation: "The binary log holds every change of every table, and is copied to backups and kept for weeks. Encryption of tables does not reach it. The setting counts for relay logs too, and for files that are begun from then on.",
    remedy: "encrypt_binlog=ON (MariaDB), binlog_encryption=ON (MySQL) in the [mysqld] group of the option file, with a key provider",
    fact: &rest::BINLOG_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "it is written in cleartext"),
};

//! The server is set to encrypt Aria tables.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const ARIA: FactRule = FactRule {
    id: "SL4010",
    title: "The server is set to encrypt Aria tables",
    severity: Severity::Medium,
    references: &["MariaDB manual: aria_encrypt_tables"],
    explanation: "System tables of MariaDB, with the accounts, are Aria tables, which InnoDB's encryption does not reach. The setting counts for tables that are created or rebuilt from then on.",
    remedy: "aria_encrypt_tables=ON in the [mysqld] group of the option file, with a key provider; then rebuild the tables",
    fact: &rest::ARIA_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "aria_encrypt_tables is OFF"),
};

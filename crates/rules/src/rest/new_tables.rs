//! New tables are encrypted by default.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const NEW_TABLES: FactRule = FactRule {
    id: "SL4003",
    title: "New tables are encrypted by default",
    severity: Severity::Medium,
    references: &["MariaDB manual: innodb_encrypt_tables", "MySQL manual: default_table_encryption"],
    explanation: "A table that somebody creates tomorrow is in cleartext unless its creator thinks of it. The setting counts for new tables; what is there already is another rule's.",
    remedy: "innodb_encrypt_tables=FORCE (MariaDB), default_table_encryption=ON (MySQL) in the [mysqld] group of the option file, with a key provider",
    fact: &rest::NEW_TABLES_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "a table without an option of its own is not encrypted"),
};

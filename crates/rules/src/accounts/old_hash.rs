//! New passwords are not stored as the hash from before MySQL 4.1.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OLD_HASH: FactRule = FactRule {
    id: "SL2233",
    title: "New passwords are not stored as the hash from before MySQL 4.1",
    severity: Severity::High,
    references: &["MariaDB manual: old_passwords"],
    explanation: "With old_passwords=1 SET PASSWORD stores 64 bits without a salt, which are tried out within hours, and who has the hash logs in with it.",
    remedy: "SET GLOBAL old_passwords = 0, and old_passwords=0 in the [mysqld] group of the option file",
    fact: &server::OLD_PASSWORDS,
    judge: |value| crate::verdicts::no(value, "old_passwords is ON"),
};

//! Background encryption of tables is not switched off.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const ROTATE_KEY_AGE: FactRule = FactRule {
    id: "SL4015",
    title: "Background encryption of tables is not switched off",
    severity: Severity::Medium,
    references: &["MariaDB manual: innodb_encryption_rotate_key_age"],
    explanation: "With innodb_encryption_rotate_key_age=0 MariaDB neither encrypts tables that were there before nor moves pages to a new version of their key. The rule speaks only where tables are to be encrypted.",
    remedy: "innodb_encryption_rotate_key_age=1 in the [mysqld] group of the option file, and SET GLOBAL innodb_encryption_rotate_key_age = 1",
    fact: &rest::ROTATE_KEY_AGE,
    judge: |value| crate::verdicts::at_least(value, 1, "versions"),
};

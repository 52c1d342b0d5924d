//! The server is set to encrypt its undo logs.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const UNDO: FactRule = FactRule {
    id: "SL4005",
    title: "The server is set to encrypt its undo logs",
    severity: Severity::High,
    references: &["MySQL manual: innodb_undo_log_encrypt"],
    explanation: "Old versions of rows stand in the undo tablespaces until nobody needs them any more. MySQL encrypts them by a setting of their own.",
    remedy: "innodb_undo_log_encrypt=ON in the [mysqld] group of the option file, with a keyring",
    fact: &rest::UNDO_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "they are written in cleartext"),
};

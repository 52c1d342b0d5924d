//! Old passwords cannot be taken again.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const PASSWORD_REUSE: FactRule = FactRule {
    id: "SL2227",
    title: "Old passwords cannot be taken again",
    severity: Severity::Low,
    references: &["MySQL manual: Password Management"],
    explanation: "Without a history whoever must change a password sets the old one again, which may be known to others by then.",
    remedy: "password_history=5 in the [mysqld] group of the option file, and SET GLOBAL password_history = 5",
    fact: &server::PASSWORD_REUSE,
    judge: |value| crate::verdicts::no(value, "password_history and password_reuse_interval are 0"),
};

//! Passwords in statements are not logged as they come.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const LOG_RAW: FactRule = FactRule {
    id: "SL4202",
    title: "Passwords in statements are not logged as they come",
    severity: Severity::High,
    references: &["MySQL manual: log_raw"],
    explanation: "MySQL replaces passwords in statements by <secret> before it logs them. With log_raw it does not.",
    remedy: "log_raw=OFF in the [mysqld] group of the option file, and SET GLOBAL log_raw = OFF",
    fact: &server::LOG_RAW,
    judge: |value| crate::verdicts::no(value, "log_raw is ON"),
};

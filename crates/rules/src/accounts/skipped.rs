//! The server checks accounts.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SKIPPED: FactRule = FactRule {
    id: "SL2225",
    title: "The server checks accounts",
    severity: Severity::Critical,
    references: &["MySQL manual: skip_grant_tables", "MariaDB manual: skip-grant-tables"],
    explanation: "With skip_grant_tables everybody who reaches the server may do everything, without a password. It is meant for a lost root password, and sometimes stays.",
    remedy: "remove skip-grant-tables from the option file and the command line, then restart",
    fact: &server::ACCOUNTS_SKIPPED,
    judge: |value| crate::verdicts::no(value, "skip_grant_tables is ON"),
};

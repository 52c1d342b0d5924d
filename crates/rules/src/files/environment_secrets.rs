//! No password is in the environment of the server.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const ENVIRONMENT_SECRETS: FactRule = FactRule {
    id: "SL2813",
    title: "No password is in the environment of the server",
    severity: Severity::Medium,
    references: &["MySQL manual: End-User Guidelines for Password Security"],
    explanation: "The environment of a process is inherited by every script that it starts, and is kept by tools that report crashes. MYSQL_PWD is gone from MySQL 9 for that.",
    remedy: "take the variable out of the unit or script that starts the server; use an option file with mode 0600",
    fact: &server::ENVIRONMENT_SECRETS,
    judge: crate::verdicts::absent,
};

//! The general log is off.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const GENERAL_LOG: FactRule = FactRule {
    id: "SL4201",
    title: "The general log is off",
    severity: Severity::High,
    references: &["MySQL manual: The General Query Log", "MariaDB manual: General Query Log"],
    explanation: "It writes every statement with its values, in cleartext, beside the tables that may be encrypted. MariaDB writes passwords of CREATE USER and SET PASSWORD into it too. With log_output=NONE it writes nothing.",
    remedy: "general_log=OFF in the [mysqld] group of the option file, SET GLOBAL general_log = OFF, and remove the old file",
    fact: &server::GENERAL_LOG,
    judge: |value| crate::verdicts::no(value, "general_log is ON"),
};

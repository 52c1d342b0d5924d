//! The server writes no core file.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const CORE_FILE: FactRule = FactRule {
    id: "SL4212",
    title: "The server writes no core file",
    severity: Severity::Medium,
    references: &["MariaDB manual: core_file", "MySQL manual: core-file"],
    explanation: "A core file holds the server's memory: keys, passwords that clients sent, rows. It lies where the server ran, and often goes to somebody else with a bug report.",
    remedy: "remove core-file from the option file and the command line, then restart",
    fact: &log::CORE_FILE,
    judge: |value| crate::verdicts::no(value, "core_file is ON"),
};

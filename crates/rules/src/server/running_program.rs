//! The program that runs is the one that is installed.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const RUNNING_PROGRAM: FactRule = FactRule {
    id: "SL2703",
    title: "The program that runs is the one that is installed",
    severity: Severity::Medium,
    references: &["proc(5): /proc/PID/exe"],
    explanation: "An upgrade replaces files; the server goes on with the old program, and its old faults, until it is restarted.",
    remedy: "restart the server",
    fact: &server::PROGRAM_REPLACED,
    judge: |value| {
        crate::verdicts::no(
            value,
            "the program that the process runs was replaced or removed since its start",
        )
    },
};

//! No secret is on the command line of the server.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const ARGUMENT_SECRETS: FactRule = FactRule {
    id: "SL2817",
    title: "No secret is on the command line of the server",
    severity: Severity::High,
    references: &["MySQL manual: End-User Guidelines for Password Security", "proc(5): /proc/PID/cmdline"],
    explanation: "Every user of the machine reads the command lines of all processes.",
    remedy: "put the option into an option file with mode 0600, take a new secret, then restart",
    fact: &server::ARGUMENT_SECRETS,
    judge: crate::verdicts::absent,
};

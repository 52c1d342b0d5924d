//! No statement makes the server wait or work.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const DELAY: FactRule = FactRule {
    id: "SL2603",
    title: "No statement makes the server wait or work",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "SLEEP() and BENCHMARK() inside of another statement answer a question by the time that it takes. Checks that sleep and do nothing else are not meant. A join that is slow by its size is not seen.",
    remedy: REMEDY,
    fact: &statement::DELAY,
    judge: crate::verdicts::absent,
};

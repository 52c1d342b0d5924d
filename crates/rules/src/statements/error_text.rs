//! No statement is made to fail with what it should show.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const ERROR_TEXT: FactRule = FactRule {
    id: "SL2605",
    title: "No statement is made to fail with what it should show",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "EXTRACTVALUE(), UPDATEXML() and some others write a value that they cannot read into their error, which many applications show. Errors of other kinds (a division, a column that is not there) are seen by their number only (SL2611), and a statement that the server cannot parse has no digest.",
    remedy: REMEDY,
    fact: &statement::ERROR_TEXT,
    judge: crate::verdicts::absent,
};

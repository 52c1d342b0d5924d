//! No packet holds two statements.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const STACKED: FactRule = FactRule {
    id: "SL2608",
    title: "No packet holds two statements",
    severity: Severity::Medium,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "A client that allows several statements in one packet lets a value bring a whole statement of its own. Tools for migrations and dumps do so on purpose. MariaDB's digests tell; of MySQL only the general log does, where it is written to its table and this account may read it. Routines, which have statements of their own, are not meant.",
    remedy: REMEDY,
    fact: &statement::STACKED,
    judge: crate::verdicts::absent,
};

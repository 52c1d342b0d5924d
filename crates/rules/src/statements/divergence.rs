//! No rare statement is a usual one and more.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const DIVERGENCE: FactRule = FactRule {
    id: "SL2612",
    title: "No rare statement is a usual one with more behind a value",
    severity: Severity::Low,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "A statement that was seen five times at most, and is one that was seen thirty times with a UNION, a comparison of values, a subquery or another statement behind a value, is told; so are pairs such as `AND 1=1` and `AND 1=2`, which no other rule sees. This is a hint. Conditions on columns, as forms for searches add them, are not meant, and so `OR name = 'x'` is not seen. Nor is what was tried more often than five times, or in a statement of the application that is rare itself.",
    remedy: REMEDY,
    fact: &statement::DIVERGENCE,
    judge: crate::verdicts::absent,
};

//! No statement asks for an answer character by character.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const INFERENCE: FactRule = FactRule {
    id: "SL2607",
    title: "No statement asks for an answer character by character",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "Where an application shows neither rows nor errors, an injected condition on one character at a time still gets the whole value. Characters of a column, as reports take them, are not meant; a condition without SUBSTRING() and its like, such as LIKE on a subquery, is not seen.",
    remedy: REMEDY,
    fact: &statement::INFERENCE,
    judge: crate::verdicts::absent,
};

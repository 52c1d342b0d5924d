//! No statement adds rows behind a value by UNION.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const UNION: FactRule = FactRule {
    id: "SL2602",
    title: "No statement adds rows behind a value by UNION",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "Behind a value that an application has put into a statement, `UNION SELECT` adds rows of another table to the answer, first of literals, to find out how many columns there are. A UNION of columns that look like the application's own is not seen here (SL2612). Labelled parts and lines of totals in reports are not meant; a row of constants that a program adds behind a condition, as for a list of choices, looks the same and is told.",
    remedy: REMEDY,
    fact: &statement::UNION,
    judge: crate::verdicts::absent,
};

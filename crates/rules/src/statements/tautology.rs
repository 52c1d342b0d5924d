//! No statement has a condition that holds for every row.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const TAUTOLOGY: FactRule = FactRule {
    id: "SL2601",
    title: "No statement has a condition that holds for every row",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "An application that puts values into the text of a statement can be told `1 OR 1=1`, and gives away or changes every row. Some programs have such a condition written in their code; `WHERE 1=1 AND` is not meant. Digests have no values, so that `OR 1=2` counts too. In texts `AND 1514=1514` is told as well, by which it is seen whether an answer changes; `AND 1=1` is not (SL2612), nor a value that ends its string early and adds nothing (SL2609).",
    remedy: REMEDY,
    fact: &statement::TAUTOLOGY,
    judge: crate::verdicts::absent,
};

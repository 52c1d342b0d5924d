//! No statement spells strings by numbers.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const ENCODING: FactRule = FactRule {
    id: "SL2610",
    title: "No statement whose text is kept spells strings by the numbers of their characters",
    severity: Severity::High,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: String Functions and Operators, CHAR()",
    ],
    explanation: "Tools write CONCAT(0x7e, …) and CHAR(97, 100, …) to do without quotes, which an application may escape. Hexadecimal literals alone, as for UUIDs, and CHAR(13, 10) are not meant. Only texts tell, as for SL2609, with the same limits: what is kept no longer is not seen. A single hexadecimal literal in the place of a string is not told from a UUID.",
    remedy: REMEDY,
    fact: &statement::ENCODING,
    judge: crate::verdicts::absent,
};

//! No statement reads or writes files of the server.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const FILE: FactRule = FactRule {
    id: "SL2606",
    title: "No statement reads or writes files of the server",
    severity: Severity::Medium,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Statement Digests and Sampling",
    ],
    explanation: "LOAD_FILE() and INTO OUTFILE need the FILE privilege. Exports by administrators are seen here too. LOAD DATA is not meant: programs load files so.",
    remedy: REMEDY,
    fact: &statement::FILE,
    judge: crate::verdicts::absent,
};

//! No routine of an administrator builds statements from text.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const ROUTINES_FROM_TEXT: FactRule = FactRule {
    id: "SL2614",
    title: "No routine of an administrator builds statements from text",
    severity: Severity::Medium,
    references: &["MySQL manual: Stored Object Access Control", "OWASP SQL Injection Prevention Cheat Sheet"],
    explanation: "A routine runs as its definer. One that pastes its arguments into a statement and prepares it lets whoever may call it run statements as an administrator. Only names are read here, never bodies that are shown.",
    remedy: "SQL SECURITY INVOKER or a definer with few privileges; parameters by EXECUTE … USING in place of CONCAT",
    fact: &server::ROUTINES_FROM_TEXT,
    judge: crate::verdicts::absent,
};

//! Each routine runs as an account that exists.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const ROUTINES_ORPHANED: FactRule = FactRule {
    id: "SL2617",
    title: "Each routine runs as an account that exists",
    severity: Severity::Low,
    references: &["MySQL manual: Orphan Stored Objects"],
    explanation: "A routine whose definer is gone fails today. Tomorrow it runs with the privileges of whoever gets an account of that name.",
    remedy: "create the routine again with a definer that exists, or drop it",
    fact: &server::ROUTINES_ORPHANED,
    judge: crate::verdicts::absent,
};

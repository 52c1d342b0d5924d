//! No role is granted to every account.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const MANDATORY_ROLES: FactRule = FactRule {
    id: "SL2229",
    title: "No role is granted to every account",
    severity: Severity::Low,
    references: &["MySQL manual: mandatory_roles"],
    explanation: "mandatory_roles gives its roles to each account, those of the future too, and SHOW GRANTS of an account does not show it as granted to it. What everybody has nobody reviews.",
    remedy: "SET PERSIST mandatory_roles = '' and grant the role to the accounts that need it",
    fact: &server::MANDATORY_ROLES,
    judge: crate::verdicts::absent,
};

//! Who changes his password has to know the one before.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CURRENT_PASSWORD: FactRule = FactRule {
    id: "SL2234",
    title: "Who changes his password has to know the one before",
    severity: Severity::Low,
    references: &["MySQL manual: Password Verification-Required Policy"],
    explanation: "Without it, somebody at an open session, or with an injected statement, takes the account over for good.",
    remedy: "SET PERSIST password_require_current = ON",
    fact: &server::PASSWORD_REQUIRES_CURRENT,
    judge: |value| crate::verdicts::yes(value, "password_require_current is OFF"),
};

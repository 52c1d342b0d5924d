//! Rules for passwords cannot be passed by a hash.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const STRICT_VALIDATION: FactRule = FactRule {
    id: "SL2231",
    title: "Rules for passwords cannot be passed by a hash",
    severity: Severity::Low,
    references: &["MariaDB manual: strict_password_validation"],
    explanation: "With strict_password_validation=OFF whoever sets a password as a hash sets any password: a hash cannot be held to rules.",
    remedy: "remove strict_password_validation=OFF from the option file, and SET GLOBAL strict_password_validation = ON",
    fact: &server::STRICT_VALIDATION,
    judge: |value| crate::verdicts::yes(value, "strict_password_validation is OFF"),
};

//! New passwords are held to rules.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const PASSWORD_RULES: FactRule = FactRule {
    id: "SL2219",
    title: "New passwords are held to rules",
    severity: Severity::Medium,
    references: &[
        "MySQL manual: The Password Validation Component",
        "MariaDB manual: Password Validation Plugins",
    ],
    explanation: "Without a plugin that checks passwords the server takes any, of one letter too, and so it does where the check is set to nothing; password_reuse_check of MariaDB only compares with older ones. It checks only what it sees in cleartext: a hash that is given in place of a password passes.",
    remedy: "INSTALL SONAME 'simple_password_check' (MariaDB), INSTALL COMPONENT 'file://component_validate_password' (MySQL)",
    fact: &server::PASSWORD_RULES,
    judge: |value| {
        crate::verdicts::yes(value, "nothing checks passwords, or what does takes fewer than 8 characters")
    },
};

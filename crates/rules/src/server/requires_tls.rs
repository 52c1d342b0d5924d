//! The server requires TLS from clients.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const REQUIRES_TLS: FactRule = FactRule {
    id: "SL2002",
    title: "The server requires TLS from clients",
    severity: Severity::Medium,
    references: &["MariaDB manual: require_secure_transport", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "Many drivers use cleartext unless configured otherwise, and some fall back to it when a man in the middle strips TLS. Only the server can enforce TLS.",
    remedy: "sealion enable clients",
    fact: &server::CLIENT_REQUIRED,
    judge: |value| crate::verdicts::yes(value, "require_secure_transport is OFF"),
};

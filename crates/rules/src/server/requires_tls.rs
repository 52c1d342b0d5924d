//! The server refuses clients without TLS.

use model::Severity;

use crate::FactRule;

pub const REQUIRES_TLS: FactRule = FactRule {
    id: "SL2002",
    title: "The server refuses clients without TLS",
    severity: Severity::Medium,
    references: &["MariaDB manual: require_secure_transport", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "Most drivers speak clear text unless told otherwise, and some fall back to it when TLS is stripped. Only the server can insist.",
    remedy: "sealion enable clients",
    fact: "client.required",
    judge: |value| {
        crate::verdicts::yes(
            value,
            "require_secure_transport is OFF: a client that does not ask for TLS gets none",
        )
    },
};

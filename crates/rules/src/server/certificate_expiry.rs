//! The certificate is valid for at least 30 more days.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CERTIFICATE_EXPIRY: FactRule = FactRule {
    id: "SL2003",
    title: "The certificate is valid for at least 30 more days",
    severity: Severity::High,
    references: &["RFC 5280 sec. 4.1.2.5"],
    explanation: "A running cluster does not show an expired certificate: established links stay up, and the first node that restarts cannot join.",
    remedy: "sealion rotate clients",
    fact: &server::CERT_EXPIRES_IN_DAYS,
    judge: |value| crate::verdicts::days_left(value, 30),
};

//! The certificate is not signed with MD5 or SHA-1.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CERTIFICATE_SIGNATURE: FactRule = FactRule {
    id: "SL1123",
    title: "The certificate is not signed with MD5 or SHA-1",
    severity: Severity::High,
    references: &["RFC 9155", "NIST SP 800-131A"],
    explanation: "MD5 and SHA-1 collisions are practical: a second certificate with the same signature and different content can be made.",
    remedy: "sealion rotate clients",
    fact: &tls::TLS_CERTIFICATE_WEAK_SIGNATURE,
    judge: |value| crate::verdicts::absent(value),
};

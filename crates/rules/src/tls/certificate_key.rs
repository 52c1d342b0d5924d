//! The certificate's key is strong enough.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CERTIFICATE_KEY: FactRule = FactRule {
    id: "SL1122",
    title: "The certificate's key is strong enough",
    severity: Severity::High,
    references: &["NIST SP 800-57 part 1 table 2", "RFC 9325 sec. 4.2.1"],
    explanation: "RSA keys below 2048 bits and curves below 224 bits can be broken.",
    remedy: "sealion rotate clients (P-256, or RSA by --bits 3072)",
    fact: &tls::TLS_CERTIFICATE_WEAK_KEY,
    judge: |value| crate::verdicts::absent(value),
};

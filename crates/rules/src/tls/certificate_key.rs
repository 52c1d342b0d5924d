//! The certificate's key is strong enough.

use model::Severity;

use crate::FactRule;

pub const CERTIFICATE_KEY: FactRule = FactRule {
    id: "SL1122",
    title: "The certificate's key is strong enough",
    severity: Severity::High,
    references: &["NIST SP 800-57 part 1 table 2", "RFC 9325 sec. 4.2.1"],
    explanation: "RSA below 2048 bits and curves below 224 bits are within reach of factoring and discrete logarithms.",
    remedy: "sealion rotate clients (P-256, or RSA by --bits 3072)",
    fact: "tls.certificate.weak_key",
    judge: |value| crate::verdicts::absent(value),
};

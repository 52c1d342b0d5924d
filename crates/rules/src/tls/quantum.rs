//! A key exchange that outlasts quantum computers is taken.

use model::Severity;

use crate::FactRule;

pub const QUANTUM: FactRule = FactRule {
    id: "SL1118",
    title: "A key exchange that outlasts quantum computers is taken",
    severity: Severity::Info,
    references: &["FIPS 203", "draft-ietf-tls-ecdhe-mlkem"],
    explanation: "What is recorded now may be read when there are large quantum computers. Hybrids such as X25519MLKEM768 hold against both. OpenSSL speaks them since 3.5; whether a server offers them depends on its list of groups.",
    remedy: "a server built with OpenSSL 3.5 or newer",
    fact: "tls.quantum_safe_group",
    judge: |value| crate::verdicts::yes(value, "no hybrid or ML-KEM group is taken"),
};

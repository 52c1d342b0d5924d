//! Supports post-quantum key exchange (X25519MLKEM768).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const QUANTUM: FactRule = FactRule {
    id: "SL1118",
    title: "Supports post-quantum key exchange (X25519MLKEM768)",
    severity: Severity::Info,
    references: &["FIPS 203", "draft-ietf-tls-ecdhe-mlkem"],
    explanation: "Traffic recorded today may be decrypted once large quantum computers exist. Hybrid groups such as X25519MLKEM768 resist both kinds of attack. OpenSSL has them since 3.5; whether a server offers them depends on its list of groups.",
    remedy: "a server built with OpenSSL 3.5 or newer",
    fact: &tls::TLS_QUANTUM_SAFE_GROUP,
    judge: |value| crate::verdicts::yes(value, "no hybrid or ML-KEM group is accepted"),
};

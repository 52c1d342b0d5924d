//! Supports downgrade protection (TLS_FALLBACK_SCSV).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const FALLBACK: FactRule = FactRule {
    id: "SL1114",
    title: "Supports downgrade protection (TLS_FALLBACK_SCSV)",
    severity: Severity::Low,
    references: &["RFC 7507"],
    explanation: "A client that was forced to retry with an older version signals it by TLS_FALLBACK_SCSV, and a server that supports a newer one must refuse. MySQL clients do not fall back by themselves, so this is a second line of defense.",
    remedy: "upgrade the server's TLS library: OpenSSL since 1.0.1j does this",
    fact: &tls::TLS_FALLBACK_SCSV,
    judge: |value| crate::verdicts::yes(value, "TLS_FALLBACK_SCSV is passed over"),
};

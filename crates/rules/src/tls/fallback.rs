//! A forced fall back to an older version is noticed.

use model::Severity;

use crate::FactRule;

pub const FALLBACK: FactRule = FactRule {
    id: "SL1114",
    title: "A forced fall back to an older version is noticed",
    severity: Severity::Low,
    references: &["RFC 7507"],
    explanation: "A client that was made to try an older version says so by TLS_FALLBACK_SCSV; a server that could do better must refuse. Clients of MySQL do not fall back by themselves, so this is a second line.",
    remedy: "upgrade the server's TLS library: OpenSSL since 1.0.1j does this",
    fact: "tls.fallback_scsv",
    judge: |value| crate::verdicts::yes(value, "TLS_FALLBACK_SCSV is passed over"),
};

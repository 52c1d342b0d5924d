//! Supports the extended master secret (TLS 1.2).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const EXTENDED_MASTER_SECRET: FactRule = FactRule {
    id: "SL1115",
    title: "Supports the extended master secret (TLS 1.2)",
    severity: Severity::Low,
    references: &["RFC 7627", "RFC 9325 sec. 3.5"],
    explanation: "Without the extended master secret two sessions can be made to share keys (triple handshake), which matters if clients authenticate with certificates.",
    remedy: "upgrade the server's TLS library: OpenSSL since 1.1.0 does this",
    fact: &tls::TLS_EXTENDED_MASTER_SECRET,
    judge: |value| crate::verdicts::yes(value, "extended_master_secret is not answered"),
};

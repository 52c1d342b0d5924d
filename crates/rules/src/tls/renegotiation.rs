//! Renegotiation is secure.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const RENEGOTIATION: FactRule = FactRule {
    id: "SL1113",
    title: "Renegotiation is secure",
    severity: Severity::Medium,
    references: &["RFC 5746", "CVE-2009-3555"],
    explanation: "Without renegotiation_info, a man in the middle can prepend data of their own to a client's, and the server treats both as one session.",
    remedy: "upgrade: a server without it is older than 2010, or uses yaSSL",
    fact: &tls::TLS_SECURE_RENEGOTIATION,
    judge: |value| crate::verdicts::yes(value, "renegotiation_info is not answered"),
};

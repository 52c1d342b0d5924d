//! TLS compression is off.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const COMPRESSION: FactRule = FactRule {
    id: "SL1112",
    title: "TLS compression is off",
    severity: Severity::Medium,
    references: &["CVE-2012-4929 (CRIME)", "RFC 9325 sec. 3.3"],
    explanation: "If data is compressed before encryption, its length reveals content to an attacker who can add to it (CRIME).",
    remedy: "build OpenSSL without zlib, as every distribution does",
    fact: &tls::TLS_COMPRESSION,
    judge: |value| crate::verdicts::no(value, "compression (DEFLATE) is accepted"),
};

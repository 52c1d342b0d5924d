//! TLS 1.0 is not taken with CBC suites.

use model::Severity;

use crate::FactRule;

pub const BEAST: FactRule = FactRule {
    id: "SL1117",
    title: "TLS 1.0 is not taken with CBC suites",
    severity: Severity::Low,
    references: &["CVE-2011-3389 (BEAST)"],
    explanation: "In TLS 1.0 the last block of a record is the start of the next one's chain; who can choose plaintext guesses the rest. Clients work around it since 2011.",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the server's option file, restart",
    fact: "tls.beast",
    judge: |value| crate::verdicts::no(value, "TLS 1.0 is taken, with a CBC suite"),
};

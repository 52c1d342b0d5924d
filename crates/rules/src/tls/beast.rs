//! TLS 1.0 is not accepted with CBC cipher suites (BEAST).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const BEAST: FactRule = FactRule {
    id: "SL1117",
    title: "TLS 1.0 is not accepted with CBC cipher suites (BEAST)",
    severity: Severity::Low,
    references: &["CVE-2011-3389 (BEAST)"],
    explanation: "In TLS 1.0 the last block of a record is the IV of the next one, so an attacker who can choose plaintext can guess the rest. Clients have worked around it since 2011.",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the server's option file, restart",
    fact: &tls::TLS_BEAST,
    judge: |value| crate::verdicts::no(value, "TLS 1.0 is accepted with a CBC cipher suite"),
};

//! SSL 3.0 is refused.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const SSL3: FactRule = FactRule {
    id: "SL1103",
    title: "SSL 3.0 is refused",
    severity: Severity::High,
    references: &["RFC 7568", "CVE-2014-3566 (POODLE)", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "SSL 3.0 padding is not authenticated, so an attacker who can make a client send chosen data can decrypt other data (POODLE).",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the server's option file, restart",
    fact: &tls::TLS_VERSION_SSL3,
    judge: |value| crate::verdicts::no(value, "SSL 3.0 is accepted"),
};

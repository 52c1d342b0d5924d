//! SSL 2.0 is refused.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const SSL2: FactRule = FactRule {
    id: "SL1102",
    title: "SSL 2.0 is refused",
    severity: Severity::Critical,
    references: &["RFC 6176", "CVE-2016-0800 (DROWN)", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "SSL 2.0 has no integrity worth the name, and a server that speaks it lets sessions of newer versions with the same key be decrypted (DROWN).",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the server's option file; replace a server that accepts SSL 2.0",
    fact: &tls::TLS_VERSION_SSL2,
    judge: |value| crate::verdicts::no(value, "SSL 2.0 is answered"),
};

//! No export cipher suite is accepted.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const EXPORT: FactRule = FactRule {
    id: "SL1107",
    title: "No export cipher suite is accepted",
    severity: Severity::Critical,
    references: &["CVE-2015-0204 (FREAK)", "CVE-2015-4000 (Logjam)", "RFC 9325 sec. 4.1"],
    explanation: "Export cipher suites have 40 to 56 bits and can be broken. Even a client that does not offer them can be downgraded to them (FREAK, Logjam).",
    remedy: "ssl_cipher=HIGH in the server's option file, restart; or, better, replace the server",
    fact: &tls::TLS_SUITES_EXPORT,
    judge: |value| crate::verdicts::absent(value),
};

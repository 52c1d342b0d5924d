//! TLS 1.0 and 1.1 are refused.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const OLD_VERSIONS: FactRule = FactRule {
    id: "SL1104",
    title: "TLS 1.0 and 1.1 are refused",
    severity: Severity::Medium,
    references: &["RFC 8996", "PCI DSS 4.0.1 req. 4.2.1", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "TLS 1.0 and 1.1 rest on SHA-1 and MD5, have no authenticated encryption, and are deprecated everywhere. MySQL removed them in 8.0.28; MariaDB accepts what tls_version lists.",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the server's option file, restart (MariaDB), or SET PERSIST and ALTER INSTANCE RELOAD TLS (MySQL)",
    fact: &tls::TLS_VERSION_OLD,
    judge: |value| crate::verdicts::no(value, "TLS 1.0 or 1.1 is accepted"),
};

//! TLS 1.3 is accepted.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const TLS13: FactRule = FactRule {
    id: "SL1105",
    title: "TLS 1.3 is accepted",
    severity: Severity::Low,
    references: &["RFC 8446", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "TLS 1.3 encrypts the certificate, needs one round trip less, and has no weak suite to configure away. MariaDB 10.4 and MySQL 8.0.16 speak it when built with OpenSSL 1.1.1 or newer.",
    remedy: "tls_version=TLSv1.2,TLSv1.3; upgrade a server that does not support it",
    fact: &tls::TLS_VERSION_TLS13,
    judge: |value| crate::verdicts::yes(value, "TLS 1.3 is refused"),
};

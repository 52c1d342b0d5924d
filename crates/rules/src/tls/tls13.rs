//! TLS 1.3 is taken.

use model::Severity;

use crate::FactRule;

pub const TLS13: FactRule = FactRule {
    id: "SL1105",
    title: "TLS 1.3 is taken",
    severity: Severity::Low,
    references: &["RFC 8446", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "TLS 1.3 encrypts the certificate, needs one round trip less, and has no weak suite to configure away. MariaDB 10.4 and MySQL 8.0.16 speak it when built with OpenSSL 1.1.1 or newer.",
    remedy: "tls_version=TLSv1.2,TLSv1.3; a server that cannot is to be upgraded",
    fact: "tls.version.tls13",
    judge: |value| crate::verdicts::yes(value, "TLS 1.3 is refused"),
};

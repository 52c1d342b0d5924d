//! No suite without encryption or without a certificate is taken.

use model::Severity;

use crate::FactRule;

pub const NO_ENCRYPTION: FactRule = FactRule {
    id: "SL1106",
    title: "No suite without encryption or without a certificate is taken",
    severity: Severity::Critical,
    references: &["RFC 9325 sec. 4.1", "NIST SP 800-52r2 sec. 3.3.1"],
    explanation: "NULL suites send the data in clear text inside TLS; anonymous ones prove nobody's identity, so anybody on the way can sit in between.",
    remedy: "ssl_cipher=HIGH:!aNULL:!eNULL in the server's option file, restart",
    fact: "tls.suites.none",
    judge: |value| crate::verdicts::absent(value),
};

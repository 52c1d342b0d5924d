//! Every accepted cipher suite has forward secrecy.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const FORWARD_SECRECY: FactRule = FactRule {
    id: "SL1110",
    title: "Every accepted cipher suite has forward secrecy",
    severity: Severity::Medium,
    references: &["RFC 9325 sec. 4.1", "RFC 9325 sec. 7.3"],
    explanation: "With RSA or static Diffie-Hellman key exchange, who records now and gets the server's key later reads everything. TLS 1.3 has no such suite.",
    remedy: "ssl_cipher=ECDHE:DHE:!aNULL in the server's option file, restart",
    fact: &tls::TLS_SUITES_STATIC_KEY,
    judge: |value| crate::verdicts::absent(value),
};

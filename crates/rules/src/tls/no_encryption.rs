//! No NULL or anonymous cipher suite is accepted.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const NO_ENCRYPTION: FactRule = FactRule {
    id: "SL1106",
    title: "No NULL or anonymous cipher suite is accepted",
    severity: Severity::Critical,
    references: &["RFC 9325 sec. 4.1", "NIST SP 800-52r2 sec. 3.3.1"],
    explanation: "NULL cipher suites send data in cleartext inside TLS; anonymous ones do not authenticate the server, so a man in the middle is not noticed.",
    remedy: "ssl_cipher=HIGH:!aNULL:!eNULL in the server's option file, restart",
    fact: &tls::TLS_SUITES_NONE,
    judge: |value| crate::verdicts::absent(value),
};

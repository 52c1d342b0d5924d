//! No RC4 cipher suite is accepted.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const RC4: FactRule = FactRule {
    id: "SL1108",
    title: "No RC4 cipher suite is accepted",
    severity: Severity::High,
    references: &["RFC 7465", "CVE-2015-2808", "NIST SP 800-52r2 sec. 3.3.1"],
    explanation: "The first bytes of an RC4 stream are not random: repeated secrets, such as a login, can be guessed from many sessions.",
    remedy: "ssl_cipher=HIGH:!RC4 in the server's option file, restart",
    fact: &tls::TLS_SUITES_RC4,
    judge: |value| crate::verdicts::absent(value),
};

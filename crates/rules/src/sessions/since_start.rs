//! Nobody has logged in without TLS since the server counts.

use model::Severity;
use model::facts::session;

use crate::FactRule;

pub const SINCE_START: FactRule = FactRule {
    id: "SL2102",
    title: "Nobody has logged in without TLS since the server counts",
    severity: Severity::Medium,
    references: &["MariaDB manual: User Statistics"],
    explanation: "An application that connects once an hour is not seen among the open sessions. MariaDB counts logins with and without TLS by host while userstat is ON.",
    remedy: "let those hosts connect with TLS; then require_secure_transport=ON",
    fact: &session::LOGINS_CLEARTEXT,
    judge: crate::verdicts::absent,
};

//! Open sessions use TLS 1.2 or newer with authenticated encryption.

use model::Severity;
use model::facts::session;

use crate::FactRule;

pub const WEAK_TLS: FactRule = FactRule {
    id: "SL2103",
    title: "Open sessions use TLS 1.2 or newer with authenticated encryption",
    severity: Severity::High,
    references: &["NIST SP 800-52r2 sec. 3.1", "RFC 9325 sec. 4.2"],
    explanation: "The client and the server agree on the best that both have. A session with an old version comes from an old client library, and keeps the server from refusing old versions.",
    remedy: "update the client library, then tls_version=TLSv1.2,TLSv1.3 in the option file",
    fact: &session::SESSION_WEAK_TLS,
    judge: crate::verdicts::absent,
};

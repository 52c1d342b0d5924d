//! A client cannot begin another handshake inside a session.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CLIENT_RENEGOTIATION: FactRule = FactRule {
    id: "SL1127",
    title: "Client-initiated renegotiation is refused",
    severity: Severity::Low,
    references: &["CVE-2011-1473", "RFC 5746 5", "OpenSSL 3.0: SSL_OP_ALLOW_CLIENT_RENEGOTIATION"],
    explanation: "A client that renegotiates repeatedly makes the server compute many handshakes in one connection, which no connection limit counts. No MySQL client renegotiates.",
    remedy: "a server linked with OpenSSL 3.0 refuses by itself: upgrade; or allow TLS 1.3 alone (tls_version=TLSv1.3), which has no renegotiation",
    fact: &tls::TLS_CLIENT_RENEGOTIATION,
    judge: |value| crate::verdicts::no(value, "client-initiated renegotiation is accepted"),
};

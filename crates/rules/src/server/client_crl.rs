//! Certificates of clients can be revoked.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CLIENT_CRL: FactRule = FactRule {
    id: "SL2012",
    title: "Certificates of clients can be revoked",
    severity: Severity::Low,
    references: &["RFC 5280 sec. 5", "MySQL manual: ssl_crl"],
    explanation: "A certificate whose key was stolen is accepted until it expires, unless the server has a revocation list. Certificates that live for a few days need none.",
    remedy: "ssl_crl=FILE in the [mysqld] group of the option file, or certificates that live for days",
    fact: &server::CLIENT_CRL,
    judge: |value| crate::verdicts::yes(value, "neither ssl_crl nor ssl_crlpath is set"),
};

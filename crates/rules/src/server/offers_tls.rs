//! The server offers TLS to clients.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OFFERS_TLS: FactRule = FactRule {
    id: "SL2001",
    title: "The server offers TLS to clients",
    severity: Severity::High,
    references: &["MariaDB manual: Data-in-Transit Encryption", "CIS MariaDB Benchmark 7.1"],
    explanation: "Without a certificate the server cannot use TLS, whatever clients request. MariaDB before 11.4 has none by default.",
    remedy: "sealion enable clients",
    fact: &server::CLIENT_OFFERED,
    judge: |value| crate::verdicts::yes(value, "the server has no certificate"),
};

//! The private key belongs to the certificate.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const KEY_PAIR: FactRule = FactRule {
    id: "SL2008",
    title: "The private key belongs to the certificate",
    severity: Severity::High,
    references: &["MariaDB manual: ssl_key, FLUSH SSL"],
    explanation: "What is in memory still works. At the next restart MariaDB and MySQL start without TLS or not at all, and a Galera node does not start.",
    remedy: "restore the key that the certificate was issued for, or sealion rotate clients",
    fact: &server::KEY_MISMATCH,
    judge: |value| crate::verdicts::absent(value),
};

//! The Galera port accepts TLS only (no socket.dynamic).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const GALERA_DYNAMIC: FactRule = FactRule {
    id: "SL1120",
    title: "The Galera port accepts TLS only (no socket.dynamic)",
    severity: Severity::High,
    references: &[
        "Galera documentation: socket.dynamic",
        "MariaDB manual: Securing Communications in Galera Cluster",
    ],
    explanation: "With socket.dynamic=YES the port accepts both cleartext and TLS and guesses within half a second. Links may stay cleartext without any message in a log, and an attacker who delays packets can force that. It is meant for the time of a change only.",
    remedy: "sealion enable galera (finishes the strict round)",
    fact: &tls::GALERA_DYNAMIC,
    judge: |value| crate::verdicts::no(value, "the port accepts both cleartext and TLS"),
};

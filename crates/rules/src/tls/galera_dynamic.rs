//! The Galera port is strict, not dynamic.

use model::Severity;

use crate::FactRule;

pub const GALERA_DYNAMIC: FactRule = FactRule {
    id: "SL1120",
    title: "The Galera port is strict, not dynamic",
    severity: Severity::High,
    references: &[
        "Galera documentation: socket.dynamic",
        "MariaDB manual: Securing Communications in Galera Cluster",
    ],
    explanation: "With socket.dynamic=YES the port takes clear text and TLS alike, by a guess of half a second. Links may stay plain with nothing in any log, and who delays bytes makes them so. It is meant for the hour of a change.",
    remedy: "sealion enable galera (finishes the strict round)",
    fact: "galera.dynamic",
    judge: |value| crate::verdicts::no(value, "the port takes clear text and TLS alike"),
};

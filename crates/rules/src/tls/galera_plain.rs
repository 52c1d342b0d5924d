//! The Galera port does not accept cleartext.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const GALERA_PLAIN: FactRule = FactRule {
    id: "SL1119",
    title: "The Galera port does not accept cleartext",
    severity: Severity::Critical,
    references: &["MariaDB manual: Securing Communications in Galera Cluster", "PCI DSS 4.0.1 req. 4.2.1"],
    explanation: "The port answers in cleartext and requests no certificate. Replication to this node can be read, and anyone who reaches the port can join the cluster and read all data.",
    remedy: "sealion enable galera",
    fact: &tls::GALERA_PLAIN,
    judge: |value| crate::verdicts::no(value, "the port sends a Galera handshake in cleartext"),
};

//! Incremental state transfer between two nodes is encrypted on the wire.

use model::Severity;
use model::facts::wire;

use crate::FactRule;

pub const IST_LINK: FactRule = FactRule {
    id: "SL1002",
    title: "Incremental state transfer between two nodes is encrypted on the wire",
    severity: Severity::Critical,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "Galera manual: ist.recv_addr"],
    explanation: "A node that rejoins gets the writesets it missed by IST, on the port after Galera's. IST uses TLS only if Galera does on both ends.",
    remedy: "sealion enable galera",
    fact: &wire::WIRE_IST,
    judge: |value| crate::verdicts::seen(value),
};

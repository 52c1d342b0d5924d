//! Galera replication between two nodes is encrypted on the wire.

use model::Severity;
use model::facts::wire;

use crate::FactRule;

pub const GALERA_LINK: FactRule = FactRule {
    id: "SL1001",
    title: "Galera replication between two nodes is encrypted on the wire",
    severity: Severity::Critical,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "MariaDB manual: Securing Communications in Galera Cluster"],
    explanation: "Every row that is written travels to every other node as a writeset. On a cleartext link anybody on the path can read it. The verdict comes from captured bytes: a canary that was found proves cleartext; `sealed` needs traffic on this very link, a plain control that was found in the same capture, and no dropped packet. A dynamic link (socket.dynamic=YES) may be cleartext without any message in a log.",
    remedy: "sealion enable galera",
    fact: &wire::WIRE_GALERA,
    judge: |value| crate::verdicts::seen(value),
};

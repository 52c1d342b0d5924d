//! Client connections are encrypted on the wire.

use model::Severity;
use model::facts::wire;

use crate::FactRule;

pub const CLIENT_LINK: FactRule = FactRule {
    id: "SL1004",
    title: "Client connections are encrypted on the wire",
    severity: Severity::High,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "CIS MariaDB Benchmark: require TLS"],
    explanation: "Statements, rows and the login itself can be read on a connection without TLS. The verdict covers what was captured on the port. Sessions of sealion count where they are in cleartext; over TLS they are no evidence of how other clients are connected.",
    remedy: "sealion enable clients",
    fact: &wire::WIRE_CLIENT,
    judge: |value| crate::verdicts::seen(value),
};

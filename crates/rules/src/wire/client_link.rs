//! Client connections are encrypted on the wire.

use model::Severity;

use crate::FactRule;

pub const CLIENT_LINK: FactRule = FactRule {
    id: "SL1004",
    title: "Client connections are encrypted on the wire",
    severity: Severity::High,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "CIS MariaDB Benchmark: require TLS"],
    explanation: "Statements, rows and the login itself can be read where a client speaks without TLS. What is judged is what was seen on the port, from our own client with ssl-mode=PREFERRED and from all others that spoke meanwhile.",
    remedy: "sealion enable clients",
    fact: "wire.client",
    judge: |value| crate::verdicts::seen(value),
};

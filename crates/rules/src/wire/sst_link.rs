//! State snapshot transfer between two nodes is encrypted on the wire.

use model::Severity;
use model::facts::wire;

use crate::FactRule;

pub const SST_LINK: FactRule = FactRule {
    id: "SL1003",
    title: "State snapshot transfer between two nodes is encrypted on the wire",
    severity: Severity::Critical,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "MariaDB manual: State Snapshot Transfers"],
    explanation: "A new node gets a copy of the whole database by SST. Galera's TLS does not cover it: the SST scripts have options of their own, in the [sst] group of the option files of donor and joiner.",
    remedy: "sealion enable sst",
    fact: &wire::WIRE_SST,
    judge: |value| crate::verdicts::seen(value),
};

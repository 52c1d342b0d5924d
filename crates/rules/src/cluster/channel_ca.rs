//! A channel of replication has a CA to verify its source with.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const CHANNEL_CA: FactRule = FactRule {
    id: "SL3013",
    title: "A channel of replication has a CA to verify its source with",
    severity: Severity::High,
    references: &[
        "MySQL manual: CHANGE REPLICATION SOURCE TO, SOURCE_SSL_CA",
        "MariaDB manual: CHANGE MASTER TO, MASTER_SSL_CA",
    ],
    explanation: "Without a CA there is nothing to verify a certificate against, whatever else is set: the connection is encrypted to somebody unknown. MariaDB from 11.4 on verifies by the password instead, where it verifies at all.",
    remedy: "sealion enable replication",
    fact: &cluster::CHANNEL_CA,
    judge: |value| crate::verdicts::yes(value, "it has none"),
};

//! A channel without TLS does not take any key from its source.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const CHANNEL_KEY: FactRule = FactRule {
    id: "SL3014",
    title: "A channel without TLS does not take any key from its source",
    severity: Severity::High,
    references: &["MySQL manual: CHANGE REPLICATION SOURCE TO Statement, GET_SOURCE_PUBLIC_KEY"],
    explanation: "GET_SOURCE_PUBLIC_KEY lets the replica encrypt its password under whatever key comes over the cleartext connection. Somebody in the middle sends a key of his own and has the password of the account that reads every change.",
    remedy: "sealion enable replication",
    fact: &cluster::CHANNEL_ASKS_KEY,
    judge: |value| crate::verdicts::no(value, "GET_SOURCE_PUBLIC_KEY=1 without TLS"),
};

//! A channel of replication is set to use TLS.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const CHANNEL_TLS: FactRule = FactRule {
    id: "SL3011",
    title: "A channel of replication is set to use TLS",
    severity: Severity::Critical,
    references: &[
        "MySQL manual: Setting Up Replication to Use Encrypted Connections",
        "MariaDB manual: Replication with Secure Connections",
    ],
    explanation: "The replica reads every row that was written on its source over this channel. The setting counts from the next start of the receiver on; what the channel carries is seen by sealion status.",
    remedy: "sealion enable replication",
    fact: &cluster::CHANNEL_TLS,
    judge: |value| crate::verdicts::yes(value, "it uses no TLS"),
};

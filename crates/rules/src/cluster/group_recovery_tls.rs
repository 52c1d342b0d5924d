//! Members of the group catch up with TLS.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_RECOVERY_TLS: FactRule = FactRule {
    id: "SL3302",
    title: "Members of the group catch up with TLS",
    severity: Severity::Critical,
    references: &["MySQL manual: Securing Distributed Recovery Connections"],
    explanation: "A member that joins copies what it lacks from another one over a connection of its own, which group_replication_ssl_mode does not reach.",
    remedy: "group_replication_recovery_use_ssl=ON in the option file of every member, and SET GLOBAL",
    fact: &cluster::GROUP_RECOVERY_TLS,
    judge: |value| crate::verdicts::yes(value, "group_replication_recovery_use_ssl is OFF"),
};

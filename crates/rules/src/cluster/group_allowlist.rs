//! Only members may connect to the group.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_ALLOWLIST: FactRule = FactRule {
    id: "SL3308",
    title: "Only members may connect to the group",
    severity: Severity::Low,
    references: &["MySQL manual: Group Replication IP Address Permissions"],
    explanation: "With AUTOMATIC every host of a private network may speak to the port of the group.",
    remedy: "group_replication_ip_allowlist='ADDRESSES' of the members in the option file of every member",
    fact: &cluster::GROUP_ALLOWLIST,
    judge: crate::verdicts::absent,
};

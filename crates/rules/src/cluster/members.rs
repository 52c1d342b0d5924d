//! The cluster has at least three members.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const MEMBERS: FactRule = FactRule {
    id: "SL3004",
    title: "The cluster has at least three members",
    severity: Severity::Medium,
    references: &["Galera manual: Quorum Components"],
    explanation: "With two members each restart leaves one node alone, and any network problem then stops the service.",
    remedy: "add a node, or an arbitrator (garbd)",
    fact: &cluster::CLUSTER_SIZE,
    judge: |value| crate::verdicts::at_least(value, 3, "members"),
};

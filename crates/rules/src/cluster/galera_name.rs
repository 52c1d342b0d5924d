//! The cluster does not have the name that every installation has.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GALERA_NAME: FactRule = FactRule {
    id: "SL3108",
    title: "The cluster does not have the name that every installation has",
    severity: Severity::Low,
    references: &["MariaDB manual: wsrep_cluster_name"],
    explanation: "Nodes join where the name is theirs. With the default name a node of another cluster, or of a test, joins when an address is wrong, and takes its data from there.",
    remedy: "wsrep_cluster_name=NAME on every node, with the whole cluster stopped",
    fact: &cluster::GALERA_DEFAULT_NAME,
    judge: |value| crate::verdicts::no(value, "wsrep_cluster_name is the default"),
};

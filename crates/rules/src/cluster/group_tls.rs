//! Members of the group talk with TLS.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_TLS: FactRule = FactRule {
    id: "SL3301",
    title: "Members of the group talk with TLS",
    severity: Severity::Critical,
    references: &["MySQL manual: Securing Group Communication Connections with Secure Socket Layer (SSL)"],
    explanation: "Every row that is written travels to every member. With group_replication_ssl_mode=DISABLED these connections are in cleartext. The rule speaks only where the plugin is loaded.",
    remedy: "group_replication_ssl_mode=VERIFY_IDENTITY in the option file of every member; it counts when a member joins",
    fact: &cluster::GROUP_TLS,
    judge: |value| crate::verdicts::yes(value, "group_replication_ssl_mode is DISABLED"),
};

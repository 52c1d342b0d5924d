//! Members of the group verify each other.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_VERIFIES: FactRule = FactRule {
    id: "SL3305",
    title: "Members of the group verify each other",
    severity: Severity::High,
    references: &["MySQL manual: Securing Group Communication Connections with Secure Socket Layer (SSL)"],
    explanation: "With group_replication_ssl_mode=REQUIRED connections are encrypted, and whoever shows any certificate is taken for a member: somebody in the middle reads and changes all.",
    remedy: "group_replication_ssl_mode=VERIFY_IDENTITY in the option file of every member, with a CA of their own; it counts when a member joins",
    fact: &cluster::GROUP_VERIFIES,
    judge: |value| crate::verdicts::yes(value, "group_replication_ssl_mode verifies nobody"),
};

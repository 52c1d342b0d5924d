//! A member that joins does not take any key from its donor.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_KEY: FactRule = FactRule {
    id: "SL3307",
    title: "A member that joins does not take any key from its donor",
    severity: Severity::Medium,
    references: &["MySQL manual: group_replication_recovery_get_public_key"],
    explanation: "With group_replication_recovery_get_public_key=ON the password of the recovery account is encrypted under whatever key the other side sends, where the connection is without TLS.",
    remedy: "group_replication_recovery_get_public_key=OFF in the option file of every member, and SET GLOBAL; TLS for recovery",
    fact: &cluster::GROUP_ASKS_KEY,
    judge: |value| crate::verdicts::no(value, "group_replication_recovery_get_public_key is ON"),
};

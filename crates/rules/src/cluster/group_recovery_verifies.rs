//! A member that joins verifies its donor.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GROUP_RECOVERY_VERIFIES: FactRule = FactRule {
    id: "SL3306",
    title: "A member that joins verifies its donor",
    severity: Severity::High,
    references: &["MySQL manual: Securing Distributed Recovery Connections"],
    explanation: "Without group_replication_recovery_ssl_verify_server_cert a member that joins gives its password to, and takes its data from, whoever answers at the donor's address.",
    remedy: "group_replication_recovery_ssl_verify_server_cert=ON and group_replication_recovery_ssl_ca=FILE in the option file of every member, and SET GLOBAL",
    fact: &cluster::GROUP_RECOVERY_VERIFIES,
    judge: |value| crate::verdicts::yes(value, "group_replication_recovery_ssl_verify_server_cert is OFF"),
};

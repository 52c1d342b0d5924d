//! The Group Replication port does not accept cleartext.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const GROUP_REPLICATION_PLAIN: FactRule = FactRule {
    id: "SL1131",
    title: "The Group Replication port does not accept cleartext",
    severity: Severity::Critical,
    references: &[
        "MySQL manual: Securing Group Communication Connections with SSL",
        "PCI DSS 4.0.1 req. 4.2.1",
    ],
    explanation: "The port answers a peer in cleartext: replicated data can be read, and only the list of allowed addresses keeps others from joining the group.",
    remedy: "group_replication_ssl_mode=REQUIRED (or VERIFY_CA, VERIFY_IDENTITY with ssl_ca) on all members, and group_replication_recovery_use_ssl=ON; members are restarted one by one",
    fact: &tls::GROUP_REPLICATION_PLAIN,
    judge: |value| crate::verdicts::no(value, "the port answers in cleartext"),
};

//! A channel of replication verifies its source.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const CHANNEL_VERIFIES: FactRule = FactRule {
    id: "SL3012",
    title: "A channel of replication verifies its source",
    severity: Severity::High,
    references: &[
        "MySQL manual: CHANGE REPLICATION SOURCE TO, SOURCE_SSL_VERIFY_SERVER_CERT",
        "MariaDB manual: CHANGE MASTER TO, MASTER_SSL_VERIFY_SERVER_CERT",
    ],
    explanation: "Without it the replica accepts any certificate, and MySQL with SOURCE_SSL_CA that of any host which the CA knows. MariaDB then even goes on in cleartext where the source offers no TLS. Somebody in the middle then reads what is replicated, can change it, and gets the password of the replication account.",
    remedy: "sealion enable replication",
    fact: &cluster::CHANNEL_VERIFIES,
    judge: |value| crate::verdicts::yes(value, "it does not verify certificate and name of its source"),
};

//! Replication from a source to its replica is encrypted on the wire.

use model::Severity;
use model::facts::wire;

use crate::FactRule;

pub const REPLICATION_LINK: FactRule = FactRule {
    id: "SL1005",
    title: "Replication from a source to its replica is encrypted on the wire",
    severity: Severity::Critical,
    references: &[
        "MariaDB manual: Replication with Secure Connections",
        "MySQL manual: Setting Up Replication to Use Encrypted Connections",
    ],
    explanation: "Every row that is written passes on this connection. MASTER_SSL=1 is a wish: without verification MariaDB connects in cleartext where the source offers no TLS, and says so nowhere. The verdict is what the captured bytes showed.",
    remedy: "sealion enable replication,clients",
    fact: &wire::WIRE_REPLICATION,
    judge: |value| crate::verdicts::seen(value),
};

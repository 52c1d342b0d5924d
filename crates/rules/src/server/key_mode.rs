//! The private key is readable by its owner only.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const KEY_MODE: FactRule = FactRule {
    id: "SL2004",
    title: "The private key is readable by its owner only",
    severity: Severity::High,
    references: &["CIS MariaDB Benchmark: permissions of SSL key files"],
    explanation: "Anyone who can read the key of a Galera node can join the cluster with it and read every row.",
    remedy: "chmod 600 on the key, then sealion rotate clients: it may have been read",
    fact: &server::KEY_OTHERS_CAN_READ,
    judge: |value| crate::verdicts::no(value, "group or others may read it"),
};

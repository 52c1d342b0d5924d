//! Keys do not lie beside the data that they encrypt.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEY_PLACE: FactRule = FactRule {
    id: "SL4103",
    title: "Keys do not lie beside the data that they encrypt",
    severity: Severity::High,
    references: &["MariaDB manual: File Key Management Encryption Plugin"],
    explanation: "Who copies the data directory, a backup of it or its disk then has the keys as well.",
    remedy: "move the key to another file system that is not backed up with the data, or use a key server",
    fact: &rest::KEY_IN_DATADIR,
    judge: crate::verdicts::absent,
};

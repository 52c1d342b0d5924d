//! Files with keys are read by the server only.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEY_FILE_MODE: FactRule = FactRule {
    id: "SL4102",
    title: "Files with keys are read by the server only",
    severity: Severity::Critical,
    references: &[
        "MariaDB manual: File Key Management Encryption Plugin",
        "MySQL manual: component_keyring_file",
    ],
    explanation: "Whoever reads the key reads every copy of the data, backups and old disks among them.",
    remedy: "chmod 0600 on the file, owned by the user of the server; where others could read it, rotate the key",
    fact: &rest::KEY_FILE_OPEN,
    judge: crate::verdicts::absent,
};

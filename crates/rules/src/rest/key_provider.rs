//! A key provider is loaded.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEY_PROVIDER: FactRule = FactRule {
    id: "SL4101",
    title: "A key provider is loaded",
    severity: Severity::High,
    references: &[
        "MariaDB manual: Encryption Key Management",
        "MySQL manual: Keyring Component Installation",
    ],
    explanation: "Without one nothing can be encrypted at rest: tables, logs and backups are what they are in cleartext, whatever else is set.",
    remedy: "MariaDB: plugin_load_add=file_key_management, or hashicorp_key_management, with its options; MySQL: a keyring component in mysqld.my",
    fact: &rest::KEY_PROVIDER,
    judge: |value| crate::verdicts::yes(value, "none is loaded"),
};

//! No backup lies next to the keyring that replaces it at the next start.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEYRING_BACKUP: FactRule = FactRule {
    id: "SL4108",
    title: "No backup is left next to the keyring",
    severity: Severity::High,
    references: &["MySQL manual: Using the component_keyring_file File-Based Keyring Component"],
    explanation: "component_keyring_file copies KEYRING.backup over the keyring when the server starts, and does not compare them. A backup that a crash left before the last rotation of the master key costs that key, and every tablespace that needs it.",
    remedy: "do not restart the server; sealion diagnose --datadir DIR --key-file KEYRING reports whether keys would be lost, and what to do",
    fact: &rest::KEYRING_BACKUP,
    judge: crate::verdicts::absent,
};

//! Persisted secrets are not stored as they are.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const PERSISTED_SECRETS: FactRule = FactRule {
    id: "SL2816",
    title: "Persisted secrets are not stored as they are",
    severity: Severity::Low,
    references: &["MySQL manual: persist_sensitive_variables_in_plaintext"],
    explanation: "SET PERSIST of a variable that holds a secret writes it to mysqld-auto.cnf in cleartext, unless this setting is OFF and a keyring is loaded.",
    remedy: "persist_sensitive_variables_in_plaintext=OFF in the [mysqld] group of the option file, with a keyring, then restart",
    fact: &server::PERSISTED_SECRETS,
    judge: |value| crate::verdicts::no(value, "persist_sensitive_variables_in_plaintext is ON"),
};

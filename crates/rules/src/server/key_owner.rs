//! The private key is owned by the server's user.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const KEY_OWNER: FactRule = FactRule {
    id: "SL2005",
    title: "The private key is owned by the server's user",
    severity: Severity::Medium,
    references: &["MariaDB manual: ssl_key"],
    explanation: "The server reads the key at its next start or reload, as its own user. Root can read any file, so a check as root would prove nothing.",
    remedy: "chown the key to the server's user",
    fact: &server::KEY_OWNER_IS_SERVER,
    judge: |value| {
        crate::verdicts::yes(
            value,
            "the server's user does not own it and may not be able to read it at the next start",
        )
    },
};

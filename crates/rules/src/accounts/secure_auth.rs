//! Logins by the old protocol are refused.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SECURE_AUTH: FactRule = FactRule {
    id: "SL2230",
    title: "Logins by the old protocol are refused",
    severity: Severity::High,
    references: &["MariaDB manual: secure_auth"],
    explanation: "With secure_auth=OFF accounts with a hash from before MySQL 4.1 can log in. The hash has 64 bits, is found in seconds, and is enough to log in without the password.",
    remedy: "remove secure_auth=OFF from the option file, and SET GLOBAL secure_auth = ON",
    fact: &server::SECURE_AUTH,
    judge: |value| crate::verdicts::yes(value, "secure_auth is OFF"),
};

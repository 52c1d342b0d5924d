//! X Protocol is off, or refuses cleartext.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const X_PROTOCOL: FactRule = FactRule {
    id: "SL2015",
    title: "X Protocol is off, or refuses cleartext",
    severity: Severity::Medium,
    references: &["MySQL manual: Using Encrypted Connections with X Plugin"],
    explanation: "MySQL opens a second port, 33060, for X Protocol by default. It takes the same accounts and passwords as the main port, so TLS has to be required there too: require_secure_transport counts for both.",
    remedy: "mysqlx=OFF in the [mysqld] group of the option file, or require_secure_transport=ON",
    fact: &server::X_REQUIRED,
    judge: |value| crate::verdicts::yes(value, "it accepts logins without TLS"),
};

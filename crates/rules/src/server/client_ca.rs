//! The server has a CA to check certificates of clients with.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CLIENT_CA: FactRule = FactRule {
    id: "SL2010",
    title: "The server has a CA to check certificates of clients with",
    severity: Severity::Medium,
    references: &["MariaDB manual: ssl_ca", "MySQL manual: ssl_ca"],
    explanation: "An account can require a certificate (REQUIRE X509, SUBJECT, ISSUER) only where the server knows the CA that issued it. Without ssl_ca nobody can be told apart by a certificate.",
    remedy: "ssl_ca=FILE in the [mysqld] group of the option file, then restart",
    fact: &server::CLIENT_CA,
    judge: |value| crate::verdicts::yes(value, "neither ssl_ca nor ssl_capath is set"),
};

//! A stolen certificate of a client can be shut out.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CLIENT_CERTIFICATES: FactRule = FactRule {
    id: "SL2012",
    title: "A stolen certificate of a client can be shut out",
    severity: Severity::Low,
    references: &["RFC 5280 sec. 5", "MySQL manual: ssl_crl", "MariaDB manual: REQUIRE SUBJECT"],
    explanation: "An account with REQUIRE X509, or with an issuer alone, takes every certificate of the server's CAs until it expires, also one whose key was stolen. An account that names a subject takes another one after one statement (sealion trust revoke); a server with ssl_crl knows what is revoked. Nothing is wrong where no account rests on a certificate.",
    remedy: "ALTER USER ... REQUIRE SUBJECT '/CN=NAME' for the accounts that are named (sealion trust client prints the subject), or ssl_crl=FILE in the [mysqld] group of the option file",
    fact: &server::CLIENT_CERTIFICATES_UNNAMED,
    judge: crate::verdicts::absent,
};

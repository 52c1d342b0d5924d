//! The server is set to TLS 1.2 and newer.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OLD_VERSIONS: FactRule = FactRule {
    id: "SL2017",
    title: "The server is set to TLS 1.2 and newer",
    severity: Severity::High,
    references: &["RFC 8996", "NIST SP 800-52r2 sec. 3.1"],
    explanation: "TLS 1.0 and 1.1 rest on SHA-1 and MD5 and have no authenticated encryption. What is accepted in practice depends on the TLS library too: sealion scan tries it.",
    remedy: "tls_version=TLSv1.2,TLSv1.3 in the [mysqld] group of the option file, then restart",
    fact: &server::CLIENT_OLD_VERSIONS,
    judge: crate::verdicts::absent,
};

//! Certificates of clients are signed by a CA of one's own.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OWN_CLIENT_CA: FactRule = FactRule {
    id: "SL2011",
    title: "Certificates of clients are signed by a CA of one's own",
    severity: Severity::High,
    references: &["MySQL manual: ssl_ca", "NIST SP 800-52r2 sec. 3.5"],
    explanation: "An account with REQUIRE X509 takes every certificate that a CA in ssl_ca has signed. A public CA signs for everybody, so that anybody with a web site has such a certificate.",
    remedy: "ssl_ca=FILE with the CA of the database alone in the [mysqld] group of the option file; sealion trust makes one",
    fact: &server::CLIENT_CA_IS_PUBLIC,
    judge: crate::verdicts::absent,
};

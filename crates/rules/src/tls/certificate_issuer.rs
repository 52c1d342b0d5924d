//! The certificate is not self-signed.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CERTIFICATE_ISSUER: FactRule = FactRule {
    id: "SL1124",
    title: "The certificate is not self-signed",
    severity: Severity::Medium,
    references: &["MySQL manual: Creating SSL and RSA Certificates and Keys", "RFC 6125 sec. 6"],
    explanation: "A self-signed certificate, and the one that MySQL makes at its first start, name no host that a client could verify: VERIFY_IDENTITY cannot work, and clients end up verifying nothing.",
    remedy: "sealion enable clients: a CA of the cluster's own, and a certificate per node with its names",
    fact: &tls::TLS_CERTIFICATE_OF_NOBODY,
    judge: |value| crate::verdicts::absent(value),
};

//! The certificate is already valid.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const CERTIFICATE_BEGUN: FactRule = FactRule {
    id: "SL2007",
    title: "The certificate is already valid",
    severity: Severity::High,
    references: &["RFC 5280 sec. 4.1.2.5"],
    explanation: "Clients and nodes that verify the certificate reject one whose time has not come; those that do not verify it connect, so the server seems to work.",
    remedy: "set the clock of the machine that issues certificates, then sealion rotate",
    fact: &server::CERT_NOT_YET_VALID,
    judge: |value| crate::verdicts::absent(value),
};

//! The certificate matches the host name.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CERTIFICATE_NAMES: FactRule = FactRule {
    id: "SL1125",
    title: "The certificate matches the host name",
    severity: Severity::Medium,
    references: &["RFC 6125 sec. 6.4", "RFC 9525 sec. 6"],
    explanation: "Clients that verify the name refuse this one. A common name without a subjectAltName is accepted by libmysqlclient and Connector/C, and rejected by Go.",
    remedy: "sealion rotate clients, with the name in `names` of the inventory",
    fact: &tls::TLS_CERTIFICATE_NAME_MISMATCH,
    judge: |value| crate::verdicts::absent(value),
};

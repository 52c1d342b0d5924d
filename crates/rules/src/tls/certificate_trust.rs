//! The certificate chain is valid for the CA in --ssl-ca.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const CERTIFICATE_TRUST: FactRule = FactRule {
    id: "SL1126",
    title: "The certificate chain is valid for the CA in --ssl-ca",
    severity: Severity::High,
    references: &["RFC 5280 sec. 6", "MySQL manual: --ssl-mode=VERIFY_CA"],
    explanation: "Clients that verify against this CA cannot connect; those that do not verify notice nothing. Checked only with --ssl-ca: most database servers use a CA that no system trusts.",
    remedy: "sealion enable clients, or give clients the CA that issued this certificate",
    fact: &tls::TLS_CERTIFICATE_UNTRUSTED,
    judge: |value| crate::verdicts::absent(value),
};

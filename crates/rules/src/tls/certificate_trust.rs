//! The chain leads to the CA that was named.

use model::Severity;

use crate::FactRule;

pub const CERTIFICATE_TRUST: FactRule = FactRule {
    id: "SL1126",
    title: "The chain leads to the CA that was named",
    severity: Severity::High,
    references: &["RFC 5280 sec. 6", "MySQL manual: --ssl-mode=VERIFY_CA"],
    explanation: "Clients that verify against this CA refuse the server; those that do not verify, do not tell. Judged only where --ssl-ca names the CA: most database servers have one that no system trusts.",
    remedy: "sealion enable clients, or give clients the CA that issued this certificate",
    fact: "tls.certificate.untrusted",
    judge: |value| crate::verdicts::absent(value),
};

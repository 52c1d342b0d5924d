//! Renegotiation is secure.

use model::Severity;

use crate::FactRule;

pub const RENEGOTIATION: FactRule = FactRule {
    id: "SL1113",
    title: "Renegotiation is secure",
    severity: Severity::Medium,
    references: &["RFC 5746", "CVE-2009-3555"],
    explanation: "Without renegotiation_info, somebody on the way can put bytes of his own before a client's and have both taken for one session.",
    remedy: "a server that cannot is older than 2010, or yaSSL: upgrade",
    fact: "tls.secure_renegotiation",
    judge: |value| crate::verdicts::yes(value, "renegotiation_info is not answered"),
};

//! The heartbeat extension is not offered.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const HEARTBEAT: FactRule = FactRule {
    id: "SL1116",
    title: "The heartbeat extension is not offered",
    severity: Severity::Info,
    references: &["RFC 6520", "CVE-2014-0160 (Heartbleed)"],
    explanation: "The extension itself is harmless; OpenSSL 1.0.1 to 1.0.1f leaked memory through it. It has no use over TCP.",
    remedy: "upgrade the server's TLS library: OpenSSL since 3.0 has no heartbeats in TLS",
    fact: &tls::TLS_HEARTBEAT,
    judge: |value| {
        crate::verdicts::no(
            value,
            "the heartbeat extension is offered: see whether the library is older than 1.0.1g",
        )
    },
};

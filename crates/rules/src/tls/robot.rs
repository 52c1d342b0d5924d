//! Bad paddings of an RSA secret are all answered alike. Asked only with `--intrusive`.

use model::Severity;

use crate::FactRule;

pub const ROBOT: FactRule = FactRule {
    id: "SL1130",
    title: "No oracle for RSA paddings (ROBOT)",
    severity: Severity::High,
    references: &[
        "CVE-2017-13099 (wolfSSL)",
        "RFC 5246 7.4.7.1",
        "Böck, Somorovsky, Young: Return Of Bleichenbacher's Oracle Threat (2018)",
    ],
    explanation: "A server that answers a badly padded secret otherwise than a good one decrypts for whoever asks often enough: recorded sessions with RSA key exchange, and signatures in its name. Asked only with --intrusive, by five paddings; only a difference that comes twice counts.",
    remedy: "take suites with RSA key exchange out (ssl_cipher without kRSA), and upgrade the server's TLS library",
    fact: "tls.robot",
    judge: |value| {
        crate::verdicts::no(
            value,
            "bad paddings of the secret are answered in more than one way, twice the same",
        )
    },
};

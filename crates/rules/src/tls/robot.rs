//! Bad paddings of an RSA secret are all answered alike. Asked only with `--intrusive`.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const ROBOT: FactRule = FactRule {
    id: "SL1130",
    title: "Not vulnerable to ROBOT (RSA padding oracle)",
    severity: Severity::High,
    references: &[
        "CVE-2017-13099 (wolfSSL)",
        "RFC 5246 7.4.7.1",
        "Böck, Somorovsky, Young: Return Of Bleichenbacher's Oracle Threat (2018)",
    ],
    explanation: "A server that answers a wrongly padded secret differently from a correct one is a decryption oracle: recorded sessions with RSA key exchange can be decrypted, and signatures forged. Tested only with --intrusive, with five paddings; only a difference that is seen twice counts.",
    remedy: "disable cipher suites with RSA key exchange (ssl_cipher without kRSA), and upgrade the server's TLS library",
    fact: &tls::TLS_ROBOT,
    judge: |value| {
        crate::verdicts::no(
            value,
            "bad paddings of the secret are answered in more than one way, twice the same",
        )
    },
};

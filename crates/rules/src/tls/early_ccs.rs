//! No ChangeCipherSpec is taken before there are keys. Asked only with `--intrusive`.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const EARLY_CCS: FactRule = FactRule {
    id: "SL1129",
    title: "Not vulnerable to early ChangeCipherSpec",
    severity: Severity::High,
    references: &["CVE-2014-0224", "OpenSSL security advisory of 5 June 2014"],
    explanation: "OpenSSL before 0.9.8za, 1.0.0m and 1.0.1h switches to keys that anyone can compute if a ChangeCipherSpec arrives before the key exchange. With a client of the same age, a man in the middle reads and changes everything. Tested only with --intrusive.",
    remedy: "upgrade the server's OpenSSL",
    fact: &tls::TLS_EARLY_CCS,
    judge: |value| {
        crate::verdicts::no(
            value,
            "a ChangeCipherSpec before the key exchange was accepted: the next record could not be decrypted",
        )
    },
};

//! The list of cipher suites has forward secrecy and authenticated encryption.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const WEAK_CIPHERS: FactRule = FactRule {
    id: "SL2018",
    title: "The list of cipher suites has forward secrecy and authenticated encryption",
    severity: Severity::Medium,
    references: &["NIST SP 800-52r2 sec. 3.3.1", "RFC 9325 sec. 4.2"],
    explanation: "Without forward secrecy a stolen key opens everything that was recorded; without authenticated encryption (GCM, ChaCha20-Poly1305) old attacks on padding come back.",
    remedy: "ssl_cipher=ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384 in the [mysqld] group of the option file, then restart",
    fact: &server::CLIENT_WEAK_CIPHERS,
    judge: crate::verdicts::absent,
};

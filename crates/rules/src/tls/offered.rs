//! The port offers TLS.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const OFFERED: FactRule = FactRule {
    id: "SL1101",
    title: "The port offers TLS",
    severity: Severity::Critical,
    references: &[
        "PCI DSS 4.0.1 req. 4.2.1",
        "MySQL manual: Using Encrypted Connections",
        "MariaDB manual: Data-in-Transit Encryption",
    ],
    explanation: "The greeting has no CLIENT_SSL flag: no client can use TLS here, whatever its options say, and one that only prefers it sends its login in cleartext. MariaDB before 11.4 has no certificate by default; MySQL since 5.7 makes one.",
    remedy: "sealion enable clients; or ssl_cert and ssl_key in the server's option file",
    fact: &tls::TLS_OFFERED,
    judge: |value| crate::verdicts::yes(value, "the greeting offers no TLS"),
};

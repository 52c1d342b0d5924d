//! Finite-field Diffie-Hellman groups have at least 2048 bits.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const DH_SIZE: FactRule = FactRule {
    id: "SL1111",
    title: "Finite-field Diffie-Hellman groups have at least 2048 bits",
    severity: Severity::High,
    references: &["CVE-2015-4000 (Logjam)", "RFC 9325 sec. 4.4", "NIST SP 800-52r2 sec. 3.4.1"],
    explanation: "Primes of 1024 bits are within reach of large attackers, once for all who share the prime. MariaDB and MySQL built with yaSSL, and old OpenSSL builds, use 512 or 1024 bits.",
    remedy: "prefer ECDHE: ssl_cipher=ECDHE; MariaDB before 10.3 and MySQL before 5.7.6: upgrade",
    fact: &tls::TLS_DH_BITS,
    judge: |value| crate::verdicts::at_least(value, 2048, "bits"),
};

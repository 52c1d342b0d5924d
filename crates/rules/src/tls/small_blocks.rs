//! No cipher with 64-bit blocks is accepted (SWEET32).

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const SMALL_BLOCKS: FactRule = FactRule {
    id: "SL1109",
    title: "No cipher with 64-bit blocks is accepted (SWEET32)",
    severity: Severity::Medium,
    references: &["CVE-2016-2183 (SWEET32)", "RFC 9325 sec. 4.1", "NIST SP 800-131A"],
    explanation: "With 64-bit blocks (3DES, DES, IDEA) some 32 GiB in one session are enough for blocks to repeat and reveal each other. Replication sessions carry that in a day.",
    remedy: "ssl_cipher=HIGH:!3DES:!DES:!IDEA in the server's option file, restart",
    fact: &tls::TLS_SUITES_SMALL_BLOCKS,
    judge: |value| crate::verdicts::absent(value),
};

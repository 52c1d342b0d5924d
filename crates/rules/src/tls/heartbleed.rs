//! Heartbeats give out no memory. Asked only with `--intrusive`.

use model::Severity;
use model::facts::tls;

use crate::FactRule;

pub const HEARTBLEED: FactRule = FactRule {
    id: "SL1128",
    title: "Not vulnerable to Heartbleed",
    severity: Severity::Critical,
    references: &["CVE-2014-0160", "RFC 6520 4", "OpenSSL security advisory of 7 April 2014"],
    explanation: "OpenSSL 1.0.1 to 1.0.1f answers a heartbeat with as many bytes of its memory as the request claims to hold: keys, passwords and data, without a login and without a trace. Tested only with --intrusive: 64 bytes are requested and discarded.",
    remedy: "upgrade the server's OpenSSL at once; then make a new key and certificate (sealion rotate), and change every password that was used meanwhile",
    fact: &tls::TLS_HEARTBLEED,
    judge: |value| crate::verdicts::no(value, "a heartbeat was answered with more than it held"),
};

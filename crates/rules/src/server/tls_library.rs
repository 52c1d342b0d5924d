//! The TLS library that the server runs with has no known fault.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const TLS_LIBRARY: FactRule = FactRule {
    id: "SL2702",
    title: "The TLS library that the server runs with has no known fault",
    severity: Severity::High,
    references: &["OpenSSL security advisories, one for each fault", "proc_pid_maps(5)"],
    explanation: "What counts is the library that the process has mapped, not the one that `openssl version` belongs to: after an upgrade the old one stays in use until a restart. The table has faults that anybody who reaches the port can use, or that the server's own handshakes meet; it stands in the book's fine print. A distribution fixes faults and keeps the number: there the changelog of its package counts. A library that no row names has none of these faults, and perhaps others.",
    remedy: "upgrade the TLS library, then restart the server",
    fact: &server::TLS_LIBRARY_FAULTS,
    judge: crate::verdicts::absent,
};

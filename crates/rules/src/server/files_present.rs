//! The server's key and certificate files exist.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const FILES_PRESENT: FactRule = FactRule {
    id: "SL2006",
    title: "The server's key and certificate files exist",
    severity: Severity::Critical,
    references: &["MariaDB manual: Securing Connections for Client and Server"],
    explanation: "A running server keeps what it has loaded. If a file is missing it continues to run, and does not start again.",
    remedy: "sealion resume or sealion undo if a change is open; else sealion rotate (writes new ones), before anything restarts",
    fact: &server::TLS_FILES_MISSING,
    judge: |value| crate::verdicts::absent(value),
};

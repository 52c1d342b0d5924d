//! The keys and certificates that the server refers to are there.

use model::Severity;

use crate::FactRule;

pub const FILES_PRESENT: FactRule = FactRule {
    id: "SL2006",
    title: "The keys and certificates that the server refers to are there",
    severity: Severity::Critical,
    references: &["MariaDB manual: Securing Connections for Client and Server"],
    explanation: "A running server keeps what it has read. With a file gone it goes on as before, and does not come up at its next start.",
    remedy: "sealion resume or sealion undo if a change is open; else sealion rotate (writes new ones), before anything restarts",
    fact: "tls.files_missing",
    judge: |value| crate::verdicts::absent(value),
};

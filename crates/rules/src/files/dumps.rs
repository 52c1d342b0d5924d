//! No dump lies in the data directory.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const DUMPS: FactRule = FactRule {
    id: "SL4211",
    title: "No dump lies in the data directory",
    severity: Severity::Medium,
    references: &["NIST SP 800-111 sec. 4"],
    explanation: "A dump is all tables in cleartext, beside tables that are encrypted, and is copied with every backup of the directory.",
    remedy: "encrypt it, move it away, and overwrite it here (shred)",
    fact: &server::DUMPS,
    judge: crate::verdicts::absent,
};

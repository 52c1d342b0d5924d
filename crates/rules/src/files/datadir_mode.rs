//! Only the server reads its data directory.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const DATADIR_MODE: FactRule = FactRule {
    id: "SL2801",
    title: "Only the server reads its data directory",
    severity: Severity::High,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "Who reads the directory copies tables, keys that MySQL makes there, and hashes of passwords, without any account.",
    remedy: "chmod 0750 on datadir, owned by the user of the server",
    fact: &server::DATADIR_OPEN,
    judge: crate::verdicts::absent,
};

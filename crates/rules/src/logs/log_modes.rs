//! Logs of the server are not open to other users.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const LOG_MODES: FactRule = FactRule {
    id: "SL4221",
    title: "Logs of the server are not open to other users",
    severity: Severity::High,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "General, slow and audit logs have statements with what stands in them: passwords and keys among it.",
    remedy: "chmod 0640 on the file, and the same in logrotate",
    fact: &log::STATEMENT_FILES_OPEN,
    judge: crate::verdicts::absent,
};

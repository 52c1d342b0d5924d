//! Option files with passwords are not open to other users.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OPTION_SECRETS: FactRule = FactRule {
    id: "SL2804",
    title: "Option files with passwords are not open to other users",
    severity: Severity::High,
    references: &["MySQL manual: End-User Guidelines for Password Security"],
    explanation: "Option files are often readable by everybody, since they hold settings. A password in one is then everybody's.",
    remedy: "chmod 0600 on the file, or put the password into a file of its own that is",
    fact: &server::OPTION_SECRETS_OPEN,
    judge: crate::verdicts::absent,
};

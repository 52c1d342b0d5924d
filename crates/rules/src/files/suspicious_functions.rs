//! Functions of any library cannot be loaded.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SUSPICIOUS_FUNCTIONS: FactRule = FactRule {
    id: "SL2815",
    title: "Functions of any library cannot be loaded",
    severity: Severity::Medium,
    references: &["MariaDB manual: --allow-suspicious-udfs"],
    explanation: "With allow_suspicious_udfs any function of any library in plugin_dir can be called, not only those that were made for it.",
    remedy: "remove allow-suspicious-udfs from the option file and the command line, then restart",
    fact: &server::SUSPICIOUS_FUNCTIONS,
    judge: |value| crate::verdicts::no(value, "allow_suspicious_udfs is ON"),
};

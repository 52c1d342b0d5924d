//! Option files are written by administrators only.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const OPTION_WRITERS: FactRule = FactRule {
    id: "SL2805",
    title: "Option files are written by administrators only",
    severity: Severity::High,
    references: &["MySQL manual: Using Option Files"],
    explanation: "Whoever writes an option file of a server sets its plugins and its user. A file that everybody may write the server leaves out without an error, and its lines about TLS with it.",
    remedy: "chmod go-w on the file",
    fact: &server::OPTION_FILES_WRITABLE,
    judge: crate::verdicts::absent,
};

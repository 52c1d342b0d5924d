//! No function is loaded from a library.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const USER_FUNCTIONS: FactRule = FactRule {
    id: "SL2814",
    title: "No function is loaded from a library",
    severity: Severity::Medium,
    references: &[
        "MariaDB manual: CREATE FUNCTION UDF",
        "MySQL manual: Loadable Function Security Precautions",
    ],
    explanation: "A loadable function is code in the server's process, with its keys and files. lib_mysqludf_sys, the usual tool of an attack, runs commands of the shell. Which functions are yours nobody but you can tell: each is named here.",
    remedy: "DROP FUNCTION NAME for each that you did not install, and remove its library from plugin_dir",
    fact: &server::USER_FUNCTIONS,
    judge: crate::verdicts::absent,
};

//! Login files of clients are for their owner alone.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const LOGIN_FILES: FactRule = FactRule {
    id: "SL5004",
    title: "Login files of clients are for their owner alone",
    severity: Severity::Medium,
    references: &["MySQL manual: mysql_config_editor", "PCI DSS 4.0.1, 8.6.2"],
    explanation: "A .mylogin.cnf holds passwords under a key that stands in the same file: whoever reads it has them. Its users and hosts are told, and no password.",
    remedy: "chmod 600 the file, and change the passwords that were in it; on the server itself use an account by unix_socket or auth_socket, which needs none",
    fact: &job::LOGIN_FILES_OPEN,
    judge: crate::verdicts::absent,
};

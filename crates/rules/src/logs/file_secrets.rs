//! No secret stands in a log of statements.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const FILE_SECRETS: FactRule = FactRule {
    id: "SL4203",
    title: "No password or key stands in general, slow, error and audit logs",
    severity: Severity::High,
    references: &[
        "PCI DSS 4.0.1, 8.3.2",
        "MySQL manual: Passwords and Logging",
        "MariaDB manual: General Query Log",
    ],
    explanation: "MariaDB writes the passwords of CREATE USER, GRANT, SET PASSWORD and CHANGE MASTER into its general and slow logs as they came. MySQL leaves those out, but neither leaves out the key of AES_ENCRYPT or a statement with a mistake in it. Rotated and compressed files beside a log are searched too. The value itself is never told. Only --search looks at this.",
    remedy: "change the secret first, so that it opens nothing any more; then overwrite the file (shred) and its copies, and switch the log off or have it written where only the server reads",
    fact: &log::FILE_SECRETS,
    judge: crate::verdicts::absent,
};

//! No secret stands readable in a binary or relay log.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const BINLOG_SECRETS: FactRule = FactRule {
    id: "SL4204",
    title: "No password or key stands readable in binary and relay logs",
    severity: Severity::High,
    references: &["PCI DSS 4.0.1, 8.3.2", "MySQL manual: Passwords and Logging"],
    explanation: "Every replica and every backup of the binary log has it too. MariaDB writes the passwords of CREATE USER and GRANT into it as they came, and, beside rows, the text of statements with the keys of AES_ENCRYPT (binlog_annotate_row_events). A log that is encrypted cannot be searched without its key: that is unknown, not a pass. Only --search looks at this.",
    remedy: "change the secret first; then FLUSH BINARY LOGS, wait until every replica has read the old ones, and PURGE BINARY LOGS. Give accounts hashes (IDENTIFIED BY PASSWORD, IDENTIFIED VIA ... USING), and keys from outside of statements",
    fact: &log::BINLOG_SECRETS,
    judge: crate::verdicts::absent,
};

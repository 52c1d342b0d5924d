//! No secret stands in a history of a client.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const HISTORY_SECRETS: FactRule = FactRule {
    id: "SL4210",
    title: "No password or key stands in the histories of clients",
    severity: Severity::High,
    references: &["MySQL manual: mysql Client Logging", "PCI DSS 4.0.1, 8.3.2"],
    explanation: "The client mariadb writes every statement to ~/.mysql_history or ~/.mariadb_history, those with passwords too. The client mysql leaves out lines with IDENTIFIED and PASSWORD, but not the rest of a statement over several lines, nor keys of AES_ENCRYPT. The homes of all users of the machine are searched, .mysqlsh among them. Only --search looks at this.",
    remedy: "change the secret first; then overwrite the file (shred), and make it a link to /dev/null, or set MYSQL_HISTFILE=/dev/null, for those who administer",
    fact: &log::HISTORY_SECRETS,
    judge: crate::verdicts::absent,
};

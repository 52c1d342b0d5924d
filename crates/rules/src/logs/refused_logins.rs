//! Refused logins are written to the error log.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const REFUSED_LOGINS: FactRule = FactRule {
    id: "SL4219",
    title: "Refused logins are written to the error log",
    severity: Severity::Low,
    references: &["MariaDB manual: log_warnings", "MySQL manual: log_error_verbosity"],
    explanation: "Somebody who tries passwords is seen there and nowhere else. MariaDB writes refused logins from log_warnings=2 on, MySQL from log_error_verbosity=3 on.",
    remedy: "log_warnings=2 (MariaDB), log_error_verbosity=3 (MySQL) in the [mysqld] group of the option file, and SET GLOBAL",
    fact: &log::REFUSED_LOGINS,
    judge: |value| crate::verdicts::yes(value, "refused logins are not logged"),
};

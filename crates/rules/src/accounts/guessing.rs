//! Guessing of passwords is slowed down.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const GUESSING: FactRule = FactRule {
    id: "SL2221",
    title: "Guessing of passwords is slowed down",
    severity: Severity::Medium,
    references: &["MySQL manual: The Connection Control Component", "MariaDB manual: max_password_errors"],
    explanation: "Without a limit a server answers thousands of wrong passwords a second, and all that can be seen of it is a line in the error log. MySQL can lock single accounts too (FAILED_LOGIN_ATTEMPTS), which is not looked at here.",
    remedy: "max_password_errors=10 in the [mysqld] group of the option file (MariaDB), INSTALL COMPONENT 'file://component_connection_control' (MySQL)",
    fact: &server::PASSWORD_GUESSING_LIMITED,
    judge: |value| {
        crate::verdicts::yes(value, "wrong passwords are not limited, or only after more than 1000")
    },
};

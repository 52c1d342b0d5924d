//! No account is anonymous.

use model::facts::account;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const ANONYMOUS: FactRule = FactRule {
    id: "SL2205",
    title: "No account is anonymous",
    severity: Severity::High,
    references: &[
        "MySQL manual: Securing the Initial MySQL Account",
        "MariaDB manual: mariadb-secure-installation",
    ],
    explanation: "An account without a user name lets anybody in, under any name, and wins over named accounts where its host is the more exact one.",
    remedy: "DROP USER 'USER'@'HOST'",
    fact: &account::ACCOUNT_KIND,
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(kind) if kind == "anonymous" => Verdict::Fail("it has no user name".into()),
        Value::Text(kind) if kind == "role" => Verdict::NotApplicable,
        Value::Text(_) => Verdict::Pass,
        other => crate::verdicts::unknown(other),
    }
}

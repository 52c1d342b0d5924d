//! Passwords expire.

use model::facts::server;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const PASSWORD_LIFETIME: FactRule = FactRule {
    id: "SL2220",
    title: "Passwords expire",
    severity: Severity::Low,
    references: &["MySQL manual: Password Management", "MariaDB manual: User Password Expiry"],
    explanation: "With default_password_lifetime=0 a password that was stolen years ago still works. Accounts of applications can be excepted one by one (PASSWORD EXPIRE NEVER), and are then a decision that somebody has taken.",
    remedy: "default_password_lifetime=365 in the [mysqld] group of the option file",
    fact: &server::PASSWORD_LIFETIME_DAYS,
    judge,
};

/// Two years: longer is a password for good in all but name.
const DAYS_MAX: i64 = 730;

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Number(0) => Verdict::Fail("default_password_lifetime is 0: never".into()),
        Value::Number(days) if *days > DAYS_MAX => Verdict::Fail(format!(
            "default_password_lifetime is {days} days; at most {DAYS_MAX} are sensible"
        )),
        Value::Number(_) => Verdict::Pass,
        other => crate::verdicts::unknown(other),
    }
}

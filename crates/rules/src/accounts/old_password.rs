//! No account uses the password hash of MySQL 4.0.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const OLD_PASSWORD: SubjectRule = SubjectRule {
    id: "SL2208",
    title: "No account uses the password hash of MySQL 4.0",
    severity: Severity::Critical,
    references: &["MariaDB manual: Authentication Plugin - mysql_old_password"],
    explanation: "The hash has 16 digits and can be reversed in seconds; what is sent at a login is hardly better than the password itself.",
    remedy: "ALTER USER 'USER'@'HOST' IDENTIFIED BY <NEW_PASSWORD> -- after SET old_passwords = 0",
    facts: &[&account::ACCOUNT_PLUGINS, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    let plugins = facts.word(&account::ACCOUNT_PLUGINS)?;
    let has = plugins.split(", ").any(|plugin| plugin == "mysql_old_password");
    Ok(if has {
        Verdict::Fail("its password is stored as a hash of 16 digits".into())
    } else {
        Verdict::Pass
    })
}

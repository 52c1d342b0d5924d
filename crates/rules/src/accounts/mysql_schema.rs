//! Only administrators reach the schema mysql.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const MYSQL_SCHEMA: SubjectRule = SubjectRule {
    id: "SL2216",
    title: "Only administrators reach the schema mysql",
    severity: Severity::High,
    references: &["MySQL manual: Grant Tables", "MariaDB manual: mysql.global_priv Table"],
    explanation: "Whoever reads it has the hash of every password; whoever writes it is an administrator after the next FLUSH PRIVILEGES. Privileges on *.* reach it too: grant them for schemas by name.",
    remedy: "revoke what is named here from 'USER'@'HOST', or from the role that it comes through, and grant schemas by name",
    facts: &[
        &account::ACCOUNT_ON_MYSQL_SCHEMA,
        &account::ACCOUNT_ADMINISTERS,
        &account::ACCOUNT_CAN_LOG_IN,
        &account::ACCOUNT_IS_OURS,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    if facts.found(&account::ACCOUNT_ADMINISTERS)?.is_some() || facts.is(&account::ACCOUNT_IS_OURS)? {
        return Ok(Verdict::NotApplicable);
    }
    Ok(match facts.found(&account::ACCOUNT_ON_MYSQL_SCHEMA)? {
        Some(what) => Verdict::Fail(format!("it has {what}")),
        None => Verdict::Pass,
    })
}

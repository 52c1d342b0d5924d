//! An injection through an account reaches one schema only.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const REACH: SubjectRule = SubjectRule {
    id: "SL2613",
    title: "An injection through an account reaches one schema only",
    severity: Severity::Medium,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet, Least Privilege",
        "MySQL manual: Privileges Provided by MySQL",
    ],
    explanation: "An injected statement may do what the account of the application may: with FILE it reads and writes files of the server, with CREATE USER it stays, with privileges on mysql.* it becomes an administrator, with several schemas it reads other applications. Administrators are judged by SL2106, SL2202 and SL2215. Which of the tables of its own schema an application needs is not known here.",
    remedy: "give each application an account of its own with privileges on its own schema, and revoke from 'USER'@'HOST', or from the role that it comes through, what is named here",
    facts: &[
        &account::ACCOUNT_HARM,
        &account::ACCOUNT_CAN_LOG_IN,
        &account::ACCOUNT_ADMINISTERS,
        &account::ACCOUNT_IS_OURS,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)?
        || facts.found(&account::ACCOUNT_ADMINISTERS)?.is_some()
        || facts.is(&account::ACCOUNT_IS_OURS)?
    {
        return Ok(Verdict::NotApplicable);
    }
    Ok(match facts.found(&account::ACCOUNT_HARM)? {
        Some(harm) => Verdict::Fail(format!("an injection through it could use {harm}")),
        None => Verdict::Pass,
    })
}

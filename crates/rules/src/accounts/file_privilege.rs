//! Only administrators have the FILE privilege.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const FILE_PRIVILEGE: SubjectRule = SubjectRule {
    id: "SL2214",
    title: "Only administrators have the FILE privilege",
    severity: Severity::High,
    references: &["MySQL manual: Privileges Provided by MySQL, FILE"],
    explanation: "FILE reads and writes files as the server does: keys, other tables, web pages. An injection into an application whose account has it reads the whole server.",
    remedy: "REVOKE FILE ON *.* FROM 'USER'@'HOST' -- where a role is named: from that role, or the role from the account",
    facts: &[
        &account::ACCOUNT_GLOBAL_PRIVILEGES,
        &account::ACCOUNT_ADMINISTERS,
        &account::ACCOUNT_CAN_LOG_IN,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    let privileges = facts.found(&account::ACCOUNT_GLOBAL_PRIVILEGES)?.unwrap_or_default();
    let Some(file) = privileges.split(", ").find(|one| one.split(" (").next() == Some("FILE")) else {
        return Ok(Verdict::Pass);
    };
    Ok(match facts.found(&account::ACCOUNT_ADMINISTERS)? {
        Some(_) => Verdict::NotApplicable,
        None => Verdict::Fail(format!("it has {file} and administers nothing")),
    })
}

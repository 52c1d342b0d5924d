//! Only administrators act as other accounts.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const PROXY: SubjectRule = SubjectRule {
    id: "SL2218",
    title: "Only administrators act as other accounts",
    severity: Severity::Medium,
    references: &["MySQL manual: Proxy Users", "MariaDB manual: GRANT, PROXY"],
    explanation: "PROXY gives an account the privileges of another one. On the anonymous account, or on an ordinary one, it hides who did what, and opens what nobody looked for there.",
    remedy: "revoke PROXY on the accounts that are named here from 'USER'@'HOST'",
    facts: &[&account::ACCOUNT_PROXY_OF, &account::ACCOUNT_ADMINISTERS, &account::ACCOUNT_KIND],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    let Some(others) = facts.found(&account::ACCOUNT_PROXY_OF)? else { return Ok(Verdict::Pass) };
    let is_anonymous = facts.word(&account::ACCOUNT_KIND)? == "anonymous";
    Ok(match facts.found(&account::ACCOUNT_ADMINISTERS)? {
        Some(_) if !is_anonymous => Verdict::NotApplicable,
        _ => Verdict::Fail(format!("it may act as {others}")),
    })
}

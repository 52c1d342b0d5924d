//! An account is limited to hosts or a network.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const WILDCARD_HOST: SubjectRule = SubjectRule {
    id: "SL2206",
    title: "An account is limited to hosts or a network",
    severity: Severity::Medium,
    references: &["MySQL manual: Specifying Account Names", "MariaDB manual: CREATE USER, Account Names"],
    explanation: "With % as its host an account can be tried from everywhere that reaches the port. A host, a domain or a network (10.1.%, 10.1.0.0/255.255.0.0) keeps a stolen password from being used elsewhere.",
    remedy: "let 'USER'@'HOST' in from the network of its clients only: RENAME USER keeps its privileges, and locks out who comes from elsewhere",
    facts: &[&account::ACCOUNT_FROM, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    Ok(match facts.word(&account::ACCOUNT_FROM)? {
        "any" => Verdict::Fail("it may log in from nearly everywhere".into()),
        _ => Verdict::Pass,
    })
}

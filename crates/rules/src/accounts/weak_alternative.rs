//! No second way of logging in is weaker than the first.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const WEAK_ALTERNATIVE: SubjectRule = SubjectRule {
    id: "SL2212",
    title: "No second way of logging in is weaker than the first",
    severity: Severity::Medium,
    references: &["MariaDB manual: CREATE USER, IDENTIFIED VIA"],
    explanation: "Where an account is IDENTIFIED VIA one plugin OR another, each of them is enough. A native password beside unix_socket or ed25519 can be tried from wherever the account may log in.",
    remedy: "identify 'USER'@'HOST' by the stronger plugin alone (ALTER USER ... IDENTIFIED VIA); see first that nobody logs in the other way",
    facts: &[&account::ACCOUNT_WEAK_ALTERNATIVE, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    Ok(match facts.found(&account::ACCOUNT_WEAK_ALTERNATIVE)? {
        Some(what) => Verdict::Fail(what.to_owned()),
        None => Verdict::Pass,
    })
}

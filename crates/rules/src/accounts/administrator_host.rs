//! An account that administers is limited to hosts or a network.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const ADMINISTRATOR_HOST: SubjectRule = SubjectRule {
    id: "SL2215",
    title: "An account that administers is limited to hosts or a network",
    severity: Severity::High,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "Whoever has SUPER, CREATE USER or GRANT OPTION can give himself everything else. Such an account should be reachable from the host itself, or from the few that administer it.",
    remedy: "let 'USER'@'HOST' in from localhost or a management network only (RENAME USER), or revoke what it need not have",
    facts: &[&account::ACCOUNT_ADMINISTERS, &account::ACCOUNT_CAN_LOG_IN, &account::ACCOUNT_FROM],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    let Some(privileges) = facts.found(&account::ACCOUNT_ADMINISTERS)? else {
        return Ok(Verdict::NotApplicable);
    };
    Ok(match facts.word(&account::ACCOUNT_FROM)? {
        "any" => Verdict::Fail(format!("it has {privileges}, from nearly everywhere")),
        _ => Verdict::Pass,
    })
}

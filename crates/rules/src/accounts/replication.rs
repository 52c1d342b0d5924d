//! A replication account requires TLS and has no other privilege.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const REPLICATION: SubjectRule = SubjectRule {
    id: "SL2223",
    title: "A replication account requires TLS and has no other privilege",
    severity: Severity::High,
    references: &["MySQL manual: Creating a User for Replication", "MariaDB manual: Setting Up Replication"],
    explanation: "Its password stands in a file or a table of every replica, and it reads every row that is written. It should be of no use for anything else, and of none without TLS.",
    remedy: "ALTER USER 'USER'@'HOST' REQUIRE SSL; REVOKE its other privileges",
    facts: &[
        &account::ACCOUNT_GLOBAL_PRIVILEGES,
        &account::ACCOUNT_ADMINISTERS,
        &account::ACCOUNT_CAN_LOG_IN,
        &account::ACCOUNT_TLS,
        &account::ACCOUNT_FROM,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    let privileges = facts.found(&account::ACCOUNT_GLOBAL_PRIVILEGES)?.unwrap_or_default();
    let is_administrator = facts.found(&account::ACCOUNT_ADMINISTERS)?.is_some();
    let mut own = privileges.split(", ");
    if is_administrator || !own.clone().any(|one| one == "REPLICATION SLAVE") {
        return Ok(Verdict::NotApplicable);
    }
    let others: Vec<&str> = own.by_ref().filter(|one| !OF_REPLICATION.contains(one)).collect();
    if !others.is_empty() {
        return Ok(Verdict::Fail(format!("it also has {}", others.join(", "))));
    }
    let is_local = facts.word(&account::ACCOUNT_FROM)? == "local";
    Ok(match facts.word(&account::ACCOUNT_TLS)? {
        "none" if !is_local => Verdict::Fail("it may log in without TLS".into()),
        _ => Verdict::Pass,
    })
}

/// What a replica, or a tool that follows the binary log, may need beside it.
const OF_REPLICATION: [&str; 2] = ["REPLICATION SLAVE", "REPLICATION CLIENT"];

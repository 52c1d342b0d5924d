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
    remedy: "ALTER USER 'USER'@'HOST' REQUIRE SSL -- first SL2001; then REVOKE each privilege that is named here, and each role",
    facts: &[
        &account::ACCOUNT_GLOBAL_PRIVILEGES,
        &account::ACCOUNT_OBJECTS,
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
    // `REPLICATION SLAVE (role r)` is it too.
    let bare = |one: &str| one.split(" (").next().unwrap_or(one).to_owned();
    let has = |name: &str| privileges.split(", ").any(|one| bare(one) == name);
    // Who administers everything is no account for replication, and other rules speak of it.
    if OF_ADMINISTRATORS.iter().any(|name| has(name)) || !has("REPLICATION SLAVE") {
        return Ok(Verdict::NotApplicable);
    }
    let mut others: Vec<String> = privileges
        .split(", ")
        .filter(|one| !OF_REPLICATION.contains(&bare(one).as_str()))
        .map(str::to_owned)
        .collect();
    others.extend(facts.found(&account::ACCOUNT_OBJECTS)?.map(|list| format!("privileges on {list}")));
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
const OF_REPLICATION: [&str; 3] = ["REPLICATION SLAVE", "REPLICATION CLIENT", "SLAVE MONITOR"];
const OF_ADMINISTRATORS: [&str; 2] = ["SUPER", "CREATE USER"];

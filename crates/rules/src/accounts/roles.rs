//! Roles that do not administer have neither FILE nor a privilege on the schema mysql.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const ROLES: SubjectRule = SubjectRule {
    id: "SL2217",
    title: "Roles that do not administer have neither FILE nor the schema mysql",
    severity: Severity::Medium,
    references: &["MySQL manual: Using Roles", "MariaDB manual: Roles Overview"],
    explanation: "A role is given to the next account without a look at what is in it. One for applications must not carry what reads files or hashes of passwords.",
    remedy: "REVOKE what is named here FROM the role",
    facts: &[
        &account::ACCOUNT_KIND,
        &account::ACCOUNT_GLOBAL_PRIVILEGES,
        &account::ACCOUNT_ADMINISTERS,
        &account::ACCOUNT_ON_MYSQL_SCHEMA,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if facts.word(&account::ACCOUNT_KIND)? != "role" || facts.found(&account::ACCOUNT_ADMINISTERS)?.is_some()
    {
        return Ok(Verdict::NotApplicable);
    }
    let global = facts.found(&account::ACCOUNT_GLOBAL_PRIVILEGES)?.unwrap_or_default();
    let file = global.split(", ").find(|one| one.split(" (").next() == Some("FILE"));
    Ok(match (file, facts.found(&account::ACCOUNT_ON_MYSQL_SCHEMA)?) {
        (None, None) => Verdict::Pass,
        (Some(file), None) => Verdict::Fail(format!("it has {file}")),
        (None, Some(what)) => Verdict::Fail(format!("it has {what}")),
        (Some(file), Some(what)) => Verdict::Fail(format!("it has {file}, and {what}")),
    })
}

//! An account for other hosts does not use mysql_native_password.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const NATIVE_PASSWORD: SubjectRule = SubjectRule {
    id: "SL2207",
    title: "An account for other hosts does not use mysql_native_password",
    severity: Severity::Medium,
    references: &[
        "MariaDB manual: Authentication Plugin - ed25519",
        "MySQL manual: Native Pluggable Authentication",
    ],
    explanation: "mysql_native_password is two rounds of SHA-1 without a salt: equal passwords have equal hashes, the hash alone is enough to guess billions of passwords a second, and who has read it from the grant tables and a login from the wire can log in without the password.",
    remedy: "ALTER USER 'USER'@'HOST' IDENTIFIED VIA ed25519 USING PASSWORD(<NEW_PASSWORD>) -- on MariaDB, after INSTALL SONAME 'auth_ed25519'; on MySQL: IDENTIFIED WITH caching_sha2_password BY <NEW_PASSWORD>; see first that its clients know the plugin",
    facts: &[&account::ACCOUNT_PLUGINS, &account::ACCOUNT_CAN_LOG_IN, &account::ACCOUNT_FROM],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? || facts.word(&account::ACCOUNT_FROM)? == "local" {
        return Ok(Verdict::NotApplicable);
    }
    let plugins = facts.word(&account::ACCOUNT_PLUGINS)?;
    let has = plugins.split(", ").any(|plugin| plugin == "mysql_native_password");
    Ok(if has { Verdict::Fail("it uses mysql_native_password".into()) } else { Verdict::Pass })
}

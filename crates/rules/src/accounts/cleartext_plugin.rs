//! An account whose plugin sends the password itself requires TLS.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const CLEARTEXT_PLUGIN: SubjectRule = SubjectRule {
    id: "SL2210",
    title: "An account whose plugin sends the password itself requires TLS",
    severity: Severity::Critical,
    references: &[
        "MySQL manual: Client-Side Cleartext Pluggable Authentication",
        "MariaDB manual: Authentication Plugin - PAM",
    ],
    explanation: "PAM and simple LDAP need the password itself, so the client sends it as it is. Without TLS everybody on the way reads a password that often opens far more than the database.",
    remedy: "ALTER USER 'USER'@'HOST' REQUIRE SSL -- first SL2001: on a server without TLS it locks the account out",
    facts: &[
        &account::ACCOUNT_PLUGINS,
        &account::ACCOUNT_CAN_LOG_IN,
        &account::ACCOUNT_FROM,
        &account::ACCOUNT_TLS,
    ],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? || facts.word(&account::ACCOUNT_FROM)? == "local" {
        return Ok(Verdict::NotApplicable);
    }
    let plugins = facts.word(&account::ACCOUNT_PLUGINS)?;
    let Some(plugin) = plugins.split(", ").find(|plugin| SENDS_PASSWORD.contains(plugin)) else {
        return Ok(Verdict::NotApplicable);
    };
    Ok(match facts.word(&account::ACCOUNT_TLS)? {
        "none" => Verdict::Fail(format!("{plugin} asks for the password itself, and TLS is not required")),
        _ => Verdict::Pass,
    })
}

/// Plugins of the server whose client part sends the password as it is (mysql_clear_password, dialog).
const SENDS_PASSWORD: [&str; 6] =
    ["pam", "auth_pam", "auth_pam_compat", "dialog", "authentication_pam", "authentication_ldap_simple"];

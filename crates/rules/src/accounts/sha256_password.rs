//! No account uses sha256_password.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const SHA256_PASSWORD: SubjectRule = SubjectRule {
    id: "SL2209",
    title: "No account uses sha256_password",
    severity: Severity::Low,
    references: &["MySQL manual: SHA-256 Pluggable Authentication"],
    explanation: "The plugin is deprecated. Without TLS it sends the password under an RSA key that somebody in the middle can replace, at every login; caching_sha2_password does so only at the first.",
    remedy: "ALTER USER 'USER'@'HOST' IDENTIFIED WITH caching_sha2_password BY <NEW_PASSWORD>",
    facts: &[&account::ACCOUNT_PLUGINS, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    let plugins = facts.word(&account::ACCOUNT_PLUGINS)?;
    let has = plugins.split(", ").any(|plugin| plugin == "sha256_password");
    Ok(if has { Verdict::Fail("it uses sha256_password".into()) } else { Verdict::Pass })
}

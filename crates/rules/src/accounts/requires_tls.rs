//! An account for other hosts requires TLS.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const REQUIRES_TLS: SubjectRule = SubjectRule {
    id: "SL2201",
    title: "An account for other hosts requires TLS",
    severity: Severity::High,
    references: &["MySQL manual: CREATE USER, SSL/TLS Options", "MariaDB manual: CREATE USER, TLS Options"],
    explanation: "Without REQUIRE the client decides whether its password and its data are encrypted, and so does somebody in the middle. Where the server has require_secure_transport=ON, that counts for every account.",
    remedy: "ALTER USER 'USER'@'HOST' REQUIRE SSL -- first SL2001: on a server without TLS it locks the account out",
    facts: &[&account::ACCOUNT_TLS, &account::ACCOUNT_CAN_LOG_IN, &account::ACCOUNT_FROM],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? || facts.word(&account::ACCOUNT_FROM)? == "local" {
        return Ok(Verdict::NotApplicable);
    }
    Ok(match facts.word(&account::ACCOUNT_TLS)? {
        "none" => Verdict::Fail("it may log in without TLS".into()),
        _ => Verdict::Pass,
    })
}

//! An administrator from another host needs a client certificate.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const ADMINISTRATOR_CERTIFICATE: SubjectRule = SubjectRule {
    id: "SL2202",
    title: "An administrator from another host needs a client certificate",
    severity: Severity::Medium,
    references: &["MySQL manual: CREATE USER, SSL/TLS Options", "MariaDB manual: CREATE USER, TLS Options"],
    explanation: "A password alone can be guessed or reused from anywhere. REQUIRE X509, or better SUBJECT and ISSUER, asks for a key that stands in no mail and in no ticket. REQUIRE CIPHER alone asks for no certificate on MariaDB.",
    remedy: "ALTER USER 'USER'@'HOST' REQUIRE X509 -- first SL2001 and SL2010, and a certificate for whoever uses it: without them it locks the account out",
    facts: &[
        &account::ACCOUNT_ADMINISTERS,
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
    let Some(privileges) = facts.found(&account::ACCOUNT_ADMINISTERS)? else {
        return Ok(Verdict::NotApplicable);
    };
    Ok(match facts.word(&account::ACCOUNT_TLS)? {
        "x509" | "specified" => Verdict::Pass,
        _ => Verdict::Fail(format!("it has {privileges} and needs no certificate")),
    })
}

//! No account is open without a password.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const PASSWORD: SubjectRule = SubjectRule {
    id: "SL2204",
    title: "No account is open without a password",
    severity: Severity::Critical,
    references: &[
        "MySQL manual: Securing the Initial MySQL Account",
        "MariaDB manual: mariadb-secure-installation",
    ],
    explanation: "Whoever can reach the server is in, with all that the account may do. MySQL makes root without a password when it is initialized with --initialize-insecure. On MariaDB 11.8 IDENTIFIED VIA ed25519 without USING is such an account too; parsec salts its hashes, so that of those accounts nobody can tell.",
    remedy: "ALTER USER 'USER'@'HOST' IDENTIFIED BY <NEW_PASSWORD> -- or, where nobody uses it: ALTER USER 'USER'@'HOST' ACCOUNT LOCK",
    facts: &[&account::ACCOUNT_NO_PASSWORD, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&account::ACCOUNT_CAN_LOG_IN)? {
        return Ok(Verdict::NotApplicable);
    }
    Ok(if facts.is(&account::ACCOUNT_NO_PASSWORD)? {
        Verdict::Fail("it has no password".into())
    } else {
        Verdict::Pass
    })
}

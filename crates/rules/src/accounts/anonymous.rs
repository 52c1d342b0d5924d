//! No account is anonymous.

use model::facts::account;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const ANONYMOUS: SubjectRule = SubjectRule {
    id: "SL2205",
    title: "No account is anonymous",
    severity: Severity::High,
    references: &[
        "MySQL manual: Securing the Initial MySQL Account",
        "MariaDB manual: mariadb-secure-installation",
    ],
    explanation: "An account without a user name lets anybody in, under any name, and wins over named accounts where its host is the more exact one.",
    remedy: "DROP USER 'USER'@'HOST'",
    facts: &[&account::ACCOUNT_KIND, &account::ACCOUNT_CAN_LOG_IN],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    match facts.word(&account::ACCOUNT_KIND)? {
        "anonymous" if facts.is(&account::ACCOUNT_CAN_LOG_IN)? => {
            Ok(Verdict::Fail("it has no user name".into()))
        }
        "anonymous" | "role" => Ok(Verdict::NotApplicable),
        _ => Ok(Verdict::Pass),
    }
}

//! No password stands in the lines of jobs.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const PASSWORDS: FactRule = FactRule {
    id: "SL6004",
    title: "No password stands in the lines of jobs",
    severity: Severity::High,
    references: &["PCI DSS 4.0.1, 8.6.2", "MySQL manual: End-User Guidelines for Password Security"],
    explanation: "A password behind -p, --password= or in MYSQL_PWD stands in a file that is often open to others, in the list of processes or the environment while the job runs, and in the mail and log of cron.",
    remedy: "put it into an option file of mode 0600 (--defaults-extra-file), or use an account by unix_socket or auth_socket; then change it",
    fact: &job::PASSWORDS,
    judge: crate::verdicts::absent,
};

//! Replicas and readers of the binary log are connected with TLS.

use model::facts::session;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const REPLICA: SubjectRule = SubjectRule {
    id: "SL2107",
    title: "Replicas and readers of the binary log are connected with TLS",
    severity: Severity::High,
    references: &[
        "MySQL manual: Setting Up Replication to Use Encrypted Connections",
        "MariaDB manual: Replication with Secure Connections",
    ],
    explanation: "A replica reads every row that is written. The source is the one who knows how it is connected: a channel that was told to use TLS connects in cleartext until its receiver is restarted.",
    remedy: "sealion enable replication",
    facts: &[&session::SESSION_IS_REPLICA, &session::SESSION_CLEARTEXT],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if !facts.is(&session::SESSION_IS_REPLICA)? {
        return Ok(Verdict::NotApplicable);
    }
    match facts.count(&session::SESSION_CLEARTEXT)? {
        0 => Ok(Verdict::Pass),
        count => Ok(Verdict::Fail(if count == 1 {
            "1 session reads the binary log without TLS".to_owned()
        } else {
            format!("{count} sessions read the binary log without TLS")
        })),
    }
}

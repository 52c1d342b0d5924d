//! Administrators are connected from this host only.

use model::facts::session;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const ADMINISTRATOR: SubjectRule = SubjectRule {
    id: "SL2106",
    title: "Administrators are connected from this host only",
    severity: Severity::Medium,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "A password of an administrator that is used from afar can be guessed, stolen and reused from afar. An account for localhost, reached over ssh or the socket, cannot.",
    remedy: "log in on the host itself, over ssh, and drop the account for other hosts",
    facts: &[&session::SESSION_IS_ADMINISTRATOR, &session::SESSION_FROM],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    let from = facts.word(&session::SESSION_FROM)?;
    if from != "network" {
        return Ok(Verdict::Pass);
    }
    if facts.is(&session::SESSION_IS_ADMINISTRATOR)? {
        return Ok(Verdict::Fail(
            "a user with administrative privileges is connected over the network".into(),
        ));
    }
    Ok(Verdict::Pass)
}

//! Nobody is connected over the network without TLS.

use model::facts::session;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const CLEARTEXT: SubjectRule = SubjectRule {
    id: "SL2101",
    title: "Nobody is connected over the network without TLS",
    severity: Severity::Critical,
    references: &["PCI DSS 4.0.1 req. 4.2.1", "MySQL manual: The threads Table"],
    explanation: "These sessions exist now, and everything that they send and receive can be read on the way. ALTER USER ... REQUIRE SSL and require_secure_transport end no open session: end it, or restart the application, after its account requires TLS.",
    remedy: "let the application connect with TLS; ALTER USER ... REQUIRE SSL; then KILL the sessions that are left",
    facts: &[&session::SESSION_CLEARTEXT, &session::SESSION_FROM, &session::SESSION_IS_REPLICA],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if facts.is(&session::SESSION_IS_REPLICA)? {
        return Ok(Verdict::NotApplicable);
    }
    let from = facts.word(&session::SESSION_FROM)?;
    match facts.count(&session::SESSION_CLEARTEXT)? {
        _ if from != "network" => Ok(Verdict::NotApplicable),
        0 => Ok(Verdict::Pass),
        count => Ok(Verdict::Fail(format!("{} without TLS", crate::verdicts::sessions(count)))),
    }
}

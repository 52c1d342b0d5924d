//! Sessions on this host use the socket or TLS.

use model::facts::session;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

pub const LOOPBACK: SubjectRule = SubjectRule {
    id: "SL2109",
    title: "Sessions on this host use the socket or TLS",
    severity: Severity::Low,
    references: &["MySQL manual: Connecting to the MySQL Server Using Command Options"],
    explanation: "Over loopback only this machine can listen in, which needs root. It matters where the other end is a proxy or a tunnel that brings in clients from elsewhere: then the way behind it is to be looked at.",
    remedy: "connect over the socket, or with TLS",
    facts: &[&session::SESSION_CLEARTEXT, &session::SESSION_FROM],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    if facts.word(&session::SESSION_FROM)? != "loopback" {
        return Ok(Verdict::NotApplicable);
    }
    match facts.count(&session::SESSION_CLEARTEXT)? {
        0 => Ok(Verdict::Pass),
        count => Ok(Verdict::Fail(format!("{} over loopback without TLS", crate::verdicts::sessions(count)))),
    }
}

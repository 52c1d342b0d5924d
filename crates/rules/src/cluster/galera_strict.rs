//! Galera replication traffic is encrypted.

use model::facts::cluster;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const GALERA_STRICT: FactRule = FactRule {
    id: "SL3001",
    title: "Galera replication traffic is encrypted",
    severity: Severity::High,
    references: &["Galera manual: socket.ssl, socket.dynamic"],
    explanation: "Without socket.ssl the traffic is cleartext. With socket.dynamic a node guesses within 500 to 750 ms and does not negotiate, so an attacker who delays packets decides. It is meant for the time of a change only.",
    remedy: "sealion enable galera",
    fact: &cluster::GALERA_EFFECTIVE,
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(word) if word == "strict" => Verdict::Pass,
        Value::Text(word) if word == "dynamic" => {
            Verdict::Fail("socket.dynamic=YES: a link may be cleartext".into())
        }
        Value::Text(word) => Verdict::Fail(if word == "plain" {
            "Galera replication traffic is not encrypted".into()
        } else {
            format!("the provider is configured as \"{word}\"")
        }),
        // A server outside of Galera.
        Value::Absent => Verdict::NotApplicable,
        other => crate::verdicts::unknown(other),
    }
}

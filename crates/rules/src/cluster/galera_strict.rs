//! Galera speaks TLS only.

use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const GALERA_STRICT: FactRule = FactRule {
    id: "SL3001",
    title: "Galera speaks TLS only",
    severity: Severity::High,
    references: &["Galera manual: socket.ssl, socket.dynamic"],
    explanation: "socket.dynamic is a guess made within 500 to 750 ms, not a negotiation: whoever delays bytes decides. It is meant for the time of a change, not to stay.",
    remedy: "sealion enable galera",
    fact: "galera.effective",
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(word) if word == "strict" => Verdict::Pass,
        Value::Text(word) if word == "dynamic" => {
            Verdict::Fail("socket.dynamic=YES: each link is guessed, and may be plain".into())
        }
        Value::Text(word) => Verdict::Fail(format!("it speaks {word}")),
        other => crate::verdicts::unknown(other),
    }
}

//! The running provider options match the option file.

use model::facts::cluster;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const LIVE_IS_FILE: FactRule = FactRule {
    id: "SL3003",
    title: "The running provider options match the option file",
    severity: Severity::Medium,
    references: &["MariaDB manual: wsrep_provider_options"],
    explanation: "wsrep_provider_options is replaced as a whole by the last file that sets it, and read at startup only. A difference takes effect at the next restart.",
    remedy: "put the live value into the file, or restart the node",
    fact: &cluster::GALERA_FILE_DIFFERS,
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(keys) if keys.is_empty() => Verdict::Pass,
        Value::Text(keys) => Verdict::Fail(format!("not as in the file: {keys}")),
        // A server outside of Galera.
        Value::Absent => Verdict::NotApplicable,
        other => crate::verdicts::unknown(other),
    }
}

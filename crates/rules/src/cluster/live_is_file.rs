//! The server runs with the provider options that its file has.

use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const LIVE_IS_FILE: FactRule = FactRule {
    id: "SL3003",
    title: "The server runs with the provider options that its file has",
    severity: Severity::Medium,
    references: &["MariaDB manual: wsrep_provider_options"],
    explanation: "The string is replaced whole by the last file that sets it, and read at start only. A difference shows itself at the next restart, mostly at night.",
    remedy: "put the live value into the file, or restart the node",
    fact: "galera.file_differs",
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(keys) if keys.is_empty() => Verdict::Pass,
        Value::Text(keys) => Verdict::Fail(format!("{keys} differ(s) from the file")),
        other => crate::verdicts::unknown(other),
    }
}

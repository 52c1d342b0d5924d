//! PROXY headers are accepted from named networks only.

use model::facts::server;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const PROXY_NETWORKS: FactRule = FactRule {
    id: "SL2108",
    title: "PROXY headers are accepted from named networks only",
    severity: Severity::Medium,
    references: &["MariaDB manual: Proxy Protocol Support"],
    explanation: "Whoever may send a PROXY header tells the server his own address, so that accounts that are limited to a host are open to him.",
    remedy: "proxy_protocol_networks=ADDRESS/PREFIX of the proxies in the [mysqld] group of the option file, then restart",
    fact: &server::PROXY_PROTOCOL_NETWORKS,
    judge,
};

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Text(list) if list.split(',').any(|one| matches!(one.trim(), "*" | "0.0.0.0/0" | "::/0")) => {
            Verdict::Fail(format!("proxy_protocol_networks is {list}: everybody may send one"))
        }
        Value::Text(_) | Value::Absent => Verdict::Pass,
        other => crate::verdicts::unknown(other),
    }
}

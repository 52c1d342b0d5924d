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
        Value::Text(list) => match list.split([',', ' ', '\t']).filter(|one| !one.is_empty()).find(is_wide) {
            Some(wide) => Verdict::Fail(format!(
                "proxy_protocol_networks is {list}: nearly everybody may send one ({wide})"
            )),
            None => Verdict::Pass,
        },
        Value::Absent => Verdict::Pass,
        other => crate::verdicts::unknown(other),
    }
}

/// Wider than any network of one owner: the widest private ones are `10.0.0.0/8` and `fd00::/8`. Two halves are
/// everybody too.
const PREFIX_BITS_MIN: u32 = 8;

fn is_wide(network: &&str) -> bool {
    let prefix = network.split_once('/').map(|(_, bits)| bits.parse::<u32>());
    *network == "*" || matches!(prefix, Some(Ok(bits)) if bits < PREFIX_BITS_MIN)
}

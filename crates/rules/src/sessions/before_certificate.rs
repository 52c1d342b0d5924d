//! No session is older than the server's certificate.

use model::Severity;
use model::facts::session;

use crate::FactRule;

pub const BEFORE_CERTIFICATE: FactRule = FactRule {
    id: "SL2105",
    title: "No session is older than the server's certificate",
    severity: Severity::Low,
    references: &["MySQL manual: ALTER INSTANCE RELOAD TLS"],
    explanation: "A session keeps the keys and the settings of TLS of its login. After a key was exposed, or a version of TLS was switched off, pools of connections go on with the old ones for as long as they live.",
    remedy: "restart the pools of connections, or KILL the sessions that are named",
    fact: &session::SESSION_BEFORE_CERTIFICATE,
    judge: crate::verdicts::absent,
};

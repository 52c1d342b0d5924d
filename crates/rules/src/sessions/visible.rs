//! The server can tell which sessions use TLS.

use model::Severity;
use model::facts::session;

use crate::FactRule;

pub const VISIBLE: FactRule = FactRule {
    id: "SL2110",
    title: "The server can tell which sessions use TLS",
    severity: Severity::Low,
    references: &[
        "MariaDB manual: Performance Schema Overview",
        "MySQL manual: Performance Schema Quick Start",
    ],
    explanation: "How a session is connected stands in performance_schema.threads only. MariaDB ships with performance_schema=OFF: then nobody who asks the server can tell who is connected without TLS, and what rests on it is unknown.",
    remedy: "performance_schema=ON in the [mysqld] group of the option file, then restart",
    fact: &session::SESSIONS_VISIBLE,
    judge: |value| crate::verdicts::yes(value, "performance_schema is OFF"),
};

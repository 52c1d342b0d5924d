//! The port for administrators offers TLS.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const ADMIN_PORT: FactRule = FactRule {
    id: "SL2014",
    title: "The port for administrators offers TLS",
    severity: Severity::High,
    references: &["MySQL manual: Administrative Connection Management", "MariaDB manual: extra_port"],
    explanation: "Over the administrative port the most powerful accounts log in. On MySQL it has settings of its own (admin_ssl_cert, admin_tls_version), which may differ from those of the main port.",
    remedy: "admin_ssl_cert=FILE and admin_ssl_key=FILE (MySQL), then ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_admin",
    fact: &server::ADMIN_OFFERED,
    judge: |value| crate::verdicts::yes(value, "it offers none"),
};

//! The certificate that is served is the one in its file.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SERVED_IS_FILE: FactRule = FactRule {
    id: "SL2024",
    title: "The certificate that is served is the one in its file",
    severity: Severity::Medium,
    references: &["MySQL manual: ALTER INSTANCE RELOAD TLS", "MariaDB manual: FLUSH SSL"],
    explanation: "A server reads its certificate at its start and when it is told to. One that was renewed in the file alone ends for clients on its old day.",
    remedy: "ALTER INSTANCE RELOAD TLS (MariaDB: FLUSH SSL)",
    fact: &server::CERT_FILE_DIFFERS,
    judge: crate::verdicts::absent,
};

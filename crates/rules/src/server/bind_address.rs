//! The server listens on named addresses.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const BIND_ADDRESS: FactRule = FactRule {
    id: "SL2901",
    title: "The server listens on named addresses",
    severity: Severity::Low,
    references: &["MariaDB manual: bind_address", "MySQL manual: bind_address"],
    explanation: "On all addresses the server also listens where nobody meant it to: a network for backups, a VPN, a new interface. The firewall is then the only thing in between.",
    remedy: "bind_address=ADDRESS in the [mysqld] group of the option file, then restart",
    fact: &server::LISTENS_EVERYWHERE,
    judge: crate::verdicts::absent,
};

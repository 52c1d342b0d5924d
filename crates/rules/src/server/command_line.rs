//! Settings of TLS stand in option files.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const COMMAND_LINE: FactRule = FactRule {
    id: "SL2021",
    title: "Settings of TLS stand in option files",
    severity: Severity::Low,
    references: &[
        "MySQL manual: Using Option Files",
        "MariaDB manual: Configuring MariaDB with Option Files",
    ],
    explanation: "An option on the command line wins over every file, and so does what MySQL keeps by SET PERSIST, so that a change in the option file has no effect. It is also forgotten when the server is started by another hand.",
    remedy: "move the option from the command line (systemd unit, start script) to the option file; RESET PERSIST NAME where it is persisted",
    fact: &server::SETTINGS_ON_COMMAND_LINE,
    judge: crate::verdicts::absent,
};

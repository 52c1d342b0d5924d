//! The server cannot write where it loads plugins from.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const PLUGIN_DIRECTORY: FactRule = FactRule {
    id: "SL2803",
    title: "The server cannot write where it loads plugins from",
    severity: Severity::Medium,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "With FILE, or a fault of the server, a library is written there and loaded by CREATE FUNCTION: then statements run programs.",
    remedy: "chown root and chmod 0755 on plugin_dir (0555 where the server itself runs as root)",
    fact: &server::PLUGIN_DIR_WRITABLE,
    judge: |value| crate::verdicts::no(value, "the user of the server may write in plugin_dir"),
};

//! Data, binary, relay and redo logs are not open to other users.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const DATA_MODES: FactRule = FactRule {
    id: "SL2802",
    title: "Data, binary, relay and redo logs are not open to other users",
    severity: Severity::High,
    references: &["MySQL manual: Making MySQL Secure Against Attackers"],
    explanation: "A binary log has every change, with the rows; its mode counts where it lies outside of the data directory, and wherever the directory is opened once.",
    remedy: "chmod 0640 on the files that are named",
    fact: &server::DATA_FILES_OPEN,
    judge: crate::verdicts::absent,
};

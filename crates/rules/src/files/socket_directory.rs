//! No other user can replace the socket.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SOCKET_DIRECTORY: FactRule = FactRule {
    id: "SL2818",
    title: "No other user can replace the socket",
    severity: Severity::Medium,
    references: &["MySQL manual: How to Protect or Change the MySQL Unix Socket File"],
    explanation: "Where everybody may write in the directory and it is not sticky, another user puts a socket of his own in that place, and clients send him their passwords.",
    remedy: "chmod 0755 on the directory of the socket, owned by the user of the server",
    fact: &server::SOCKET_DIR_OPEN,
    judge: crate::verdicts::absent,
};

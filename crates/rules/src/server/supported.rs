//! The server's series still gets security fixes.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SUPPORTED: FactRule = FactRule {
    id: "SL2701",
    title: "The server's series still gets security fixes",
    severity: Severity::High,
    references: &["Oracle Lifetime Support Policy: MySQL Releases", "MariaDB Foundation: Maintenance Policy"],
    explanation: "Faults that become known after the end of a series are not fixed in it by its maker. A distribution may go on for longer with its own packages: then its notes are what counts.",
    remedy: "upgrade to a series that is supported",
    fact: &server::UNSUPPORTED_SINCE,
    judge: crate::verdicts::absent,
};

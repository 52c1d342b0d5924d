//! No table with data is in an engine that does not encrypt.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const OTHER_ENGINES: FactRule = FactRule {
    id: "SL4009",
    title: "No table with data is in an engine that does not encrypt",
    severity: Severity::Medium,
    references: &[
        "MySQL manual: InnoDB Data-at-Rest Encryption",
        "MariaDB manual: Data-at-Rest Encryption Overview",
    ],
    explanation: "Only InnoDB, and Aria of MariaDB, encrypt. Files of MyISAM, CSV and ARCHIVE are cleartext whatever is set.",
    remedy: "ALTER TABLE … ENGINE=InnoDB",
    fact: &rest::OTHER_ENGINES,
    judge: crate::verdicts::absent,
};

//! The performance schema keeps no history of statements.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const HISTORY: FactRule = FactRule {
    id: "SL4207",
    title: "The performance schema keeps no history of statements",
    severity: Severity::Low,
    references: &["MySQL manual: Performance Schema Statement Event Tables"],
    explanation: "The tables of histories have whole statements of everybody: MariaDB replaces no password in them, and neither flavour a key of AES_ENCRYPT. Who may read the schema reads them.",
    remedy: "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events\\_statements\\_history%'",
    fact: &log::HISTORY,
    judge: crate::verdicts::absent,
};

//! The schema test is gone.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const SAMPLE_SCHEMA: FactRule = FactRule {
    id: "SL2704",
    title: "The schema test is gone",
    severity: Severity::Low,
    references: &[
        "MariaDB manual: mariadb-secure-installation",
        "MySQL manual: Securing the Initial MySQL Account",
    ],
    explanation: "Old servers let every account write to test and to every schema whose name begins with test_, the anonymous one too. Privileges on such names may still be there.",
    remedy: "DROP DATABASE test, when nobody needs what is in it",
    fact: &server::SAMPLE_SCHEMA,
    judge: crate::verdicts::absent,
};

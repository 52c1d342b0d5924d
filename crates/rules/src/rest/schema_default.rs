//! New tables of each schema are encrypted.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const SCHEMA_DEFAULT: FactRule = FactRule {
    id: "SL4017",
    title: "New tables of each schema are encrypted",
    severity: Severity::Medium,
    references: &["MySQL manual: ALTER DATABASE, ENCRYPTION"],
    explanation: "A schema keeps the default of the day on which it was created: default_table_encryption changes no schema that is there.",
    remedy: "ALTER SCHEMA … DEFAULT ENCRYPTION = 'Y'",
    fact: &rest::SCHEMAS_CLEAR,
    judge: crate::verdicts::absent,
};

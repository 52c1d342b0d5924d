//! Only some may create tables that are not encrypted.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const ENCRYPTION_CHECK: FactRule = FactRule {
    id: "SL4016",
    title: "Only some may create tables that are not encrypted",
    severity: Severity::Low,
    references: &["MySQL manual: table_encryption_privilege_check"],
    explanation: "default_table_encryption is a default: whoever may create a table can write ENCRYPTION='N'. With the check that needs the privilege TABLE_ENCRYPTION_ADMIN.",
    remedy: "table_encryption_privilege_check=ON in the [mysqld] group of the option file, and SET GLOBAL table_encryption_privilege_check = ON",
    fact: &rest::ENCRYPTION_CHECK,
    judge: |value| crate::verdicts::yes(value, "table_encryption_privilege_check is OFF"),
};

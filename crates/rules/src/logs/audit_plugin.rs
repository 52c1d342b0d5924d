//! Logins and changes of accounts are recorded.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const AUDIT_PLUGIN: FactRule = FactRule {
    id: "SL2615",
    title: "Logins and changes of accounts are recorded",
    severity: Severity::Medium,
    references: &["MariaDB manual: MariaDB Audit Plugin"],
    explanation: "Without the audit plugin nobody can tell afterwards who logged in and who was given which privilege. The general log would tell, and keeps every password that a statement sets.",
    remedy: "INSTALL SONAME 'server_audit'; then server_audit_logging=ON in the [mysqld] group of the option file, and SET GLOBAL server_audit_logging = ON",
    fact: &log::AUDITS,
    judge: |value| crate::verdicts::yes(value, "server_audit is not loaded, or not switched on"),
};

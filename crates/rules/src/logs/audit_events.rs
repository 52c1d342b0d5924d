//! The audit plugin leaves out nobody, and no login.

use model::Severity;
use model::facts::log;

use crate::FactRule;

pub const AUDIT_EVENTS: FactRule = FactRule {
    id: "SL2616",
    title: "The audit plugin leaves out nobody, and no login",
    severity: Severity::Medium,
    references: &["MariaDB manual: MariaDB Audit Plugin Options and System Variables"],
    explanation: "server_audit_excl_users and server_audit_incl_users leave accounts out; server_audit_events without CONNECT leaves out logins, and without QUERY, QUERY_DCL leaves out changes of privileges.",
    remedy: "server_audit_events='' and server_audit_excl_users='' in the [mysqld] group of the option file, or events with CONNECT and QUERY_DCL in them",
    fact: &log::AUDIT_GAPS,
    judge: crate::verdicts::absent,
};

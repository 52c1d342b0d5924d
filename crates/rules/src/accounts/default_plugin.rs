//! New accounts get a plugin that is up to date.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const DEFAULT_PLUGIN: FactRule = FactRule {
    id: "SL2235",
    title: "New accounts get a plugin that is up to date",
    severity: Severity::Medium,
    references: &["MySQL manual: authentication_policy"],
    explanation: "An account whose creator names no plugin gets the one that is set here. sha256_password and mysql_native_password are deprecated: the one needs RSA for each login without TLS, the other stores SHA-1 without a salt.",
    remedy: "SET PERSIST authentication_policy = '*,,'",
    fact: &server::WEAK_DEFAULT_PLUGIN,
    judge: crate::verdicts::absent,
};

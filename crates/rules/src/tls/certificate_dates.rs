//! The certificate is valid now and for at least 30 more days.

use model::facts::tls;
use model::{Severity, Value, Verdict};

use crate::{CERTIFICATE_DAYS_MIN, FactRule};

pub const CERTIFICATE_DATES: FactRule = FactRule {
    id: "SL1121",
    title: "The certificate is valid now and for at least 30 more days",
    severity: Severity::High,
    references: &["RFC 5280 sec. 4.1.2.5"],
    explanation: "Clients that verify certificates reject an expired one; other clients connect without a warning. Galera nodes with an expired one are locked out at their next restart.",
    remedy: "sealion rotate clients",
    fact: &tls::TLS_CERTIFICATE_EXPIRES_IN_DAYS,
    judge: |value| match value {
        // One of several, by its name.
        Value::Text(what) => Verdict::Fail(what.clone()),
        other => crate::verdicts::days_left(other, CERTIFICATE_DAYS_MIN),
    },
};

//! The certificate is valid for at most 825 days in all.

use model::facts::server;
use model::{Severity, Value, Verdict};

use crate::FactRule;

pub const VALIDITY: FactRule = FactRule {
    id: "SL2023",
    title: "The certificate is valid for at most 825 days in all",
    severity: Severity::Medium,
    references: &[
        "CA/Browser Forum Baseline Requirements sec. 6.3.2",
        "MySQL manual: Creating SSL and RSA Certificates and Keys using MySQL",
    ],
    explanation: "Whoever has stolen the key can use it until the certificate ends. The certificate that MySQL makes at its first start is valid for ten years, names no host, and anybody who verifies names rejects it.",
    remedy: "sealion enable clients",
    fact: &server::CERT_VALIDITY_DAYS,
    judge,
};

/// The longest that public CAs were allowed when this was written down, and long enough for a private one.
const DAYS_MAX: i64 = 825;

fn judge(value: &Value) -> Verdict {
    match value {
        Value::Number(days) if *days <= DAYS_MAX => Verdict::Pass,
        Value::Number(days) => Verdict::Fail(format!("{days} days; at most {DAYS_MAX} are sensible")),
        Value::Absent => Verdict::NotApplicable,
        other => crate::verdicts::unknown(other),
    }
}

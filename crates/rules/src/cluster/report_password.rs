//! A replica tells its source no password.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const REPORT_PASSWORD: FactRule = FactRule {
    id: "SL3015",
    title: "A replica tells its source no password",
    severity: Severity::Low,
    references: &["MySQL manual: report_password"],
    explanation: "report_password is sent to the source, is shown there to whoever may list replicas, and stands in the settings of the replica in cleartext. Nothing uses it.",
    remedy: "take report_password out of the option file, take a new password where it was a real one, then restart",
    fact: &cluster::REPORT_PASSWORD,
    judge: |value| crate::verdicts::no(value, "report_password has a value"),
};

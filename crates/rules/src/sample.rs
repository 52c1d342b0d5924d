//! Findings for tests.

use model::{Finding, Severity, Verdict};

pub fn finding(rule: &str, subject: &str, verdict: Verdict) -> Finding {
    Finding {
        rule: rule.into(),
        title: String::new(),
        severity: Severity::High,
        subject: subject.into(),
        verdict,
        remedy: String::new(),
        observations: vec![],
    }
}

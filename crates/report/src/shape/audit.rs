//! `sealion audit`: what servers said of themselves, judged.

use serde::{Deserialize, Serialize};

use super::{FindingRow, MendedRow, VerdictWord};

pub const AUDIT_SCHEMA_ID: &str = "sealion/audit/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Always [`AUDIT_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub servers: Vec<AuditServerRow>,
    /// How many findings have each verdict.
    pub failed: u64,
    pub unknown: u64,
    pub passed: u64,
    pub not_applicable: u64,
    /// Every path that data takes on each server.
    #[serde(default)]
    pub map: Vec<PathRow>,
    /// Paths that were not looked at, and what looks at them.
    #[serde(default)]
    pub not_looked_at: Vec<String>,
    /// Failed ones first, then unknown ones, each by severity.
    pub findings: Vec<FindingRow>,
    /// Failed and unknown findings that somebody has accepted.
    pub accepted: Vec<AuditAcceptedRow>,
    /// What has changed since an earlier audit; `null` where none was named.
    pub baseline: Option<AuditBaselineRow>,
    /// The standard whose rules are here, in its order; `null` where all are.
    #[serde(default)]
    pub profile: Option<AuditProfileRow>,
}

/// Findings were chosen and ordered by a standard. That none failed is not conformity with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditProfileRow {
    pub name: String,
    pub standard: String,
    /// Of the rules that have findings here.
    pub requirements: Vec<AuditRequirementRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRequirementRow {
    pub rule: String,
    pub requirement: String,
}

/// A path that data takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathRow {
    pub server: String,
    pub path: String,
    /// `in-transit`, `at-rest`
    pub kind: String,
    /// `clear`, `unknown`, `configured-only`, `none`
    pub stand: String,
    /// Why it is clear or unknown; empty otherwise.
    pub why: String,
    /// Rules that speak of it.
    pub rules: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditAcceptedRow {
    pub rule: String,
    pub subject: String,
    pub reason: String,
    /// The last day on which it counts: `2027-03-01`.
    pub until: String,
    /// It does not count any more.
    pub is_expired: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditBaselineRow {
    pub file: String,
    pub started_unix_ms: u64,
    /// Failed or unknown now, and not, or not so, then.
    pub appeared: Vec<MendedRow>,
    /// Failed or unknown then, and not now.
    pub gone: Vec<MendedRow>,
}

impl AuditReport {
    /// The acceptance of a finding, as long as it counts.
    pub fn acceptance(&self, finding: &FindingRow) -> Option<&AuditAcceptedRow> {
        self.accepted
            .iter()
            .find(|one| !one.is_expired && one.rule == finding.rule && one.subject == finding.subject)
    }

    /// On which requirement of the chosen standard a rule bears: `PCI DSS 4.0.1, 4.2.1`.
    pub fn requirement(&self, rule: &str) -> Option<String> {
        let profile = self.profile.as_ref()?;
        let row = profile.requirements.iter().find(|one| one.rule == rule)?;
        Some(format!("{}, {}", profile.standard, row.requirement))
    }

    /// Whether the baseline did not have it; without one every finding is new.
    pub fn is_new(&self, finding: &FindingRow) -> bool {
        self.baseline.as_ref().is_none_or(|baseline| {
            baseline.appeared.iter().any(|one| one.rule == finding.rule && one.subject == finding.subject)
        })
    }

    /// Notes what has changed since `earlier`, which the file had. A finding that names something else than before is new, too.
    pub fn compare(&mut self, file: &str, earlier: &Self) {
        let bad = |report: &Self| -> Vec<(MendedRow, VerdictWord, String)> {
            let is_bad = |one: &&FindingRow| matches!(one.verdict, VerdictWord::Fail | VerdictWord::Unknown);
            let key = |one: &FindingRow| MendedRow { rule: one.rule.clone(), subject: one.subject.clone() };
            let rows = report.findings.iter().filter(is_bad);
            rows.map(|one| (key(one), one.verdict, without_counts(&one.why))).collect()
        };
        let (then, now) = (bad(earlier), bad(self));
        self.baseline = Some(AuditBaselineRow {
            file: file.into(),
            started_unix_ms: earlier.started_unix_ms,
            // What was unknown and fails now is new; what failed and is unknown now is not.
            appeared: now
                .iter()
                .filter(|(key, verdict, why)| {
                    then.iter().find(|before| before.0 == *key).is_none_or(|(_, before, before_why)| {
                        *verdict == VerdictWord::Fail
                            && (*before == VerdictWord::Unknown || before_why != why)
                    })
                })
                .map(|one| one.0.clone())
                .collect(),
            gone: then
                .iter()
                .filter(|one| now.iter().all(|other| other.0 != one.0))
                .map(|one| one.0.clone())
                .collect(),
        });
    }
}

/// A reason without what changes by itself from one audit to the next: how many, how often, when. Names and addresses stay, and how many are not
/// named (`and 7 more`).
fn without_counts(why: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for word in why.split([' ', ',', ';', '(', ')']).filter(|word| !word.is_empty()) {
        let is_number = word.chars().any(|c| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || ".:-+%TZ".contains(c));
        let is_address =
            word.parse::<std::net::IpAddr>().is_ok() || word.parse::<std::net::SocketAddr>().is_ok();
        let is_rest = out.last() == Some(&"and");
        out.push(if is_number && !is_address && !is_rest { "#" } else { word });
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_names_something_else_is_new_and_one_that_counts_on_is_not() {
        let report: AuditReport =
            serde_json::from_str(include_str!("../../testdata/audit.json")).expect("an audit");
        let place =
            report.findings.iter().position(|one| one.verdict == VerdictWord::Fail).expect("one failed");
        let appeared = |then: &str, now: &str| {
            let with = |why: &str| {
                let mut report = report.clone();
                report.findings[place].why = why.into();
                report
            };
            let mut later = with(now);
            later.compare("earlier.json", &with(then));
            later.baseline.expect("just compared").appeared.len()
        };
        for (then, now, is_new) in [
            ("a.sql", "a.sql", false),
            ("a.sql", "a.sql, b.sql", true),
            ("a.sql", "b.sql", true),
            ("x (3 times, last 2026-11-26 20:00:00)", "x (57 times, last 2026-11-27 01:02:03.5)", false),
            ("a.sql, and 7 more", "a.sql, and 8 more", true),
            ("host 10.0.0.7", "host 10.0.0.8", true),
            ("it has SUPER", "it has GRANT OPTION, SUPER", true),
        ] {
            assert_eq!(appeared(then, now) == 1, is_new, "{then} / {now}");
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditServerRow {
    pub name: String,
    /// How it was reached.
    pub address: String,
    /// Whether the session of this audit was encrypted.
    pub is_tls: bool,
    pub flavour: Option<String>,
    pub version: Option<String>,
    /// The account that asked, as the server calls it.
    pub account: Option<String>,
    /// Why it was not asked, or not to the end.
    pub why_not: Option<String>,
}

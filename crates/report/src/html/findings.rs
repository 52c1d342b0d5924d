//! Findings of the two looks side by side, worst first.

use std::cmp::Reverse;

use serde::Serialize;

use crate::shape::{DemoReport, FindingRow, SeverityWord, VerdictWord};

/// The same rule on the same subject, before and after.
#[derive(Serialize)]
pub struct Pair<'a> {
    rule: &'a str,
    title: &'a str,
    severity: SeverityWord,
    subject: &'a str,
    remedy: &'a str,
    how: &'a str,
    before: Option<&'a FindingRow>,
    after: Option<&'a FindingRow>,
}

pub struct Sides<'a> {
    /// Something fails or is unknown in at least one look.
    pub open: Vec<Pair<'a>>,
    pub quiet: Vec<Pair<'a>>,
}

pub fn sides(report: &DemoReport) -> Sides<'_> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for row in report.findings_before.iter().chain(&report.findings_after) {
        if pairs.iter().any(|pair| pair.rule == row.rule && pair.subject == row.subject) {
            continue;
        }
        pairs.push(Pair {
            rule: &row.rule,
            title: &row.title,
            severity: row.severity,
            subject: &row.subject,
            remedy: &row.remedy,
            how: &row.how,
            before: find(&report.findings_before, row),
            after: find(&report.findings_after, row),
        });
    }
    // What is still wrong comes before what was mended; within each, by severity. The sort keeps the given order.
    pairs.sort_by_key(|pair| {
        Reverse((alarm(pair.after).max(u8::from(alarm(pair.before) > 0)), pair.severity, alarm(pair.before)))
    });
    let (open, quiet) = pairs.into_iter().partition(|pair| alarm(pair.before) > 0 || alarm(pair.after) > 0);
    Sides { open, quiet }
}

/// The same rule on the same subject.
fn find<'a>(rows: &'a [FindingRow], like: &FindingRow) -> Option<&'a FindingRow> {
    rows.iter().find(|row| row.rule == like.rule && row.subject == like.subject)
}

fn alarm(row: Option<&FindingRow>) -> u8 {
    match row.map(|row| row.verdict) {
        Some(VerdictWord::Fail) => 3,
        Some(VerdictWord::Unknown) => 2,
        Some(VerdictWord::Pass | VerdictWord::NotApplicable) | None => 0,
    }
}

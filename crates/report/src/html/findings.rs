//! Findings of the two checks side by side, worst first, one row for each rule and outcome.

use std::cmp::Reverse;

use serde::Serialize;

use crate::shape::{DemoReport, FindingRow, SeverityWord, VerdictWord};

/// One rule, before and after, with all subjects on which it came to the same.
#[derive(Serialize)]
pub struct Pair<'a> {
    rule: &'a str,
    title: &'a str,
    severity: SeverityWord,
    subjects: Vec<&'a str>,
    remedy: &'a str,
    how: &'a str,
    before: Option<&'a FindingRow>,
    after: Option<&'a FindingRow>,
}

pub struct Sides<'a> {
    /// Something fails or is unknown in at least one check.
    pub open: Vec<Pair<'a>>,
    pub quiet: Vec<Pair<'a>>,
}

pub fn sides(report: &DemoReport) -> Sides<'_> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for row in report.findings_before.iter().chain(&report.findings_after) {
        if pairs.iter().any(|pair| pair.rule == row.rule && pair.subjects.contains(&row.subject.as_str())) {
            continue;
        }
        let (before, after) = (find(&report.findings_before, row), find(&report.findings_after, row));
        let is_same = |pair: &&mut Pair<'_>| {
            pair.rule == row.rule && is_alike(pair.before, before) && is_alike(pair.after, after)
        };
        if let Some(pair) = pairs.iter_mut().find(is_same) {
            pair.subjects.push(&row.subject);
            continue;
        }
        pairs.push(Pair {
            rule: &row.rule,
            title: &row.title,
            severity: row.severity,
            subjects: vec![&row.subject],
            remedy: &row.remedy,
            how: how(report, row),
            before,
            after,
        });
    }
    // What is still wrong comes before what was fixed; within each, by severity. The sort keeps the given order.
    pairs.sort_by_key(|pair| {
        Reverse((alarm(pair.after).max(u8::from(alarm(pair.before) > 0)), pair.severity, alarm(pair.before)))
    });
    let (open, quiet) = pairs.into_iter().partition(|pair| alarm(pair.before) > 0 || alarm(pair.after) > 0);
    Sides { open, quiet }
}

/// The same verdict for the same reason.
fn is_alike(one: Option<&FindingRow>, other: Option<&FindingRow>) -> bool {
    let words = |row: Option<&'_ FindingRow>| row.map(|row| (row.verdict, row.why.clone()));
    words(one) == words(other)
}

/// The way to reproduce it. That of a capture is on the page once, with the method.
fn how<'a>(report: &DemoReport, row: &'a FindingRow) -> &'a str {
    let method = row.how.split(';').next().unwrap_or_default();
    if !method.is_empty() && report.method.capture.starts_with(method) { "" } else { &row.how }
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

//! A scan as one page. Start reading at [`render_scan_html`], then `templates/scan.html`.

use std::cmp::Reverse;

use minijinja::{Value, context};
use serde::Serialize;

use super::{STYLE, environment, safe};
use crate::shape::{AcceptedRow, FindingRow, ScanReport, SeverityWord, TargetRow, VerdictWord};

/// Targets that are shown with all that was seen: beyond that a page is too large for a browser, and nobody scrolls so far.
const DETAILS_MAX: usize = 500;
const SCAN_STYLE: &str = include_str!("templates/scan.css");

/// One port of one address.
#[derive(Serialize)]
struct TargetView<'r> {
    row: &'r TargetRow,
    /// Failed or unknown, worst first; what is accepted comes last.
    open: Vec<FindingView<'r>>,
    quiet: Vec<FindingView<'r>>,
    /// Names of the versions that are taken, and that are refused.
    takes: Vec<&'r str>,
    refuses: Vec<&'r str>,
    /// Each once, though TLS 1.3 and older versions have lists of their own.
    groups: Vec<&'r str>,
}

#[derive(Serialize)]
struct FindingView<'r> {
    row: &'r FindingRow,
    accepted: Option<&'r AcceptedRow>,
    expired: Option<&'r AcceptedRow>,
}

/// How many of what.
#[derive(Serialize, Default)]
struct Counts {
    answered: usize,
    critical: usize,
    high: usize,
    lower: usize,
    unknown: usize,
    accepted: usize,
}

/// The whole page.
pub fn render_scan_html(report: &ScanReport) -> String {
    let mut answered: Vec<TargetView<'_>> =
        report.targets.iter().filter(|row| row.service.is_some()).map(view).collect();
    // Worst first; the sort keeps the given order. No grade stands beside F: nobody knows.
    answered.sort_by_key(|view| Reverse(view.row.grade.clone().unwrap_or_else(|| "F".into())));
    let silent: Vec<&TargetRow> = report.targets.iter().filter(|row| row.service.is_none()).collect();
    let mut counts = Counts { answered: answered.len(), ..Counts::default() };
    let mut grades: Vec<(String, usize)> = Vec::new();
    for view in &answered {
        let letter = view.row.grade.clone().unwrap_or_else(|| "none".into());
        match grades.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, count)) => *count += 1,
            None => grades.push((letter, 1)),
        }
        for finding in &view.open {
            *match (finding.accepted.is_some(), finding.row.verdict, finding.row.severity) {
                (true, ..) => &mut counts.accepted,
                (_, VerdictWord::Unknown, _) => &mut counts.unknown,
                (_, _, SeverityWord::Critical) => &mut counts.critical,
                (_, _, SeverityWord::High) => &mut counts.high,
                _ => &mut counts.lower,
            } += 1;
        }
    }
    grades.sort();
    environment()
        .get_template("scan.html")
        .and_then(|page| {
            page.render(context! {
                r => Value::from_serialize(without_targets(report)),
                target_count => report.targets.len(),
                details_max => DETAILS_MAX,
                style => safe(format!("{STYLE}{SCAN_STYLE}")),
                targets => Value::from_serialize(&answered),
                silent => Value::from_serialize(&silent),
                counts => Value::from_serialize(&counts),
                grades => Value::from_serialize(&grades),
            })
        })
        // Only a mistake in a template can fail here, and it is rendered by the tests of this crate.
        .expect("the templates are compiled in and speak of fields that exist")
}

/// The template is given its targets once, in order.
fn without_targets(report: &ScanReport) -> ScanReport {
    ScanReport {
        schema: report.schema.clone(),
        sealion_version: report.sealion_version.clone(),
        started_unix_ms: report.started_unix_ms,
        ended_unix_ms: report.ended_unix_ms,
        depth: report.depth.clone(),
        grading_version: report.grading_version,
        is_complete: report.is_complete,
        asked: report.asked.clone(),
        targets: vec![],
        reused_keys: report.reused_keys.clone(),
        rotates_next: report.rotates_next.clone(),
        changes: report.changes.clone(),
    }
}

fn view(row: &TargetRow) -> TargetView<'_> {
    let (mut open, mut quiet) = (Vec::new(), Vec::new());
    for finding in &row.findings {
        let is_open = matches!(finding.verdict, VerdictWord::Fail | VerdictWord::Unknown);
        let view = FindingView {
            row: finding,
            accepted: row.acceptance(&finding.rule),
            expired: row.expired(&finding.rule),
        };
        if is_open { &mut open } else { &mut quiet }.push(view);
    }
    open.sort_by_key(|view: &FindingView<'_>| {
        (view.accepted.is_some(), view.row.verdict != VerdictWord::Fail, Reverse(view.row.severity))
    });
    let by = |word: &str| {
        let versions = row.tls.iter().flat_map(|tls| &tls.versions);
        versions.filter(|one| one.taken == word).map(|one| one.version.as_str()).collect()
    };
    let mut groups: Vec<&str> = Vec::new();
    for group in row.tls.iter().flat_map(|tls| &tls.groups) {
        if !groups.contains(&group.name.as_str()) {
            groups.push(&group.name);
        }
    }
    TargetView { row, open, quiet, takes: by("yes"), refuses: by("no"), groups }
}

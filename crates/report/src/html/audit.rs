//! An audit as one page. Start reading at [`render_audit_html`], then `templates/audit.html`.

use minijinja::{Value, context};
use serde::Serialize;

use super::{STYLE, audit_map, environment, safe};
use crate::shape::{AuditAcceptedRow, AuditReport, FindingRow, SeverityWord, VerdictWord};

/// Servers that are drawn; the table has all of them.
const DRAWN_MAX: usize = 12;
/// Subjects of one rule that are listed; JSON has all of them.
const SUBJECTS_MAX: usize = 50;
const AUDIT_STYLE: &str = include_str!("templates/audit.css");

/// Findings of one rule that came to the same.
#[derive(Serialize)]
struct Group<'r> {
    first: &'r FindingRow,
    subjects: Vec<Subject<'r>>,
    /// So many are not listed.
    more: usize,
    /// The remedy names the subject, and stands beside each.
    has_own_remedies: bool,
    requirement: Option<String>,
    accepted: Option<&'r AuditAcceptedRow>,
}

#[derive(Serialize)]
struct Subject<'r> {
    name: &'r str,
    why: &'r str,
    remedy: &'r str,
    is_new: bool,
    expired: Option<&'r AuditAcceptedRow>,
}

/// One path on every server, in the order of the servers.
#[derive(Serialize)]
struct PathView<'r> {
    name: &'r str,
    kind: &'r str,
    stands: Vec<StandView<'r>>,
}

#[derive(Serialize)]
struct StandView<'r> {
    server: &'r str,
    stand: &'r str,
    why: &'r str,
}

#[derive(Serialize, Default)]
struct Counts {
    servers: usize,
    silent: usize,
    clear: usize,
    critical: usize,
    high: usize,
    lower: usize,
    unknown: usize,
    accepted: usize,
}

/// The whole page.
pub fn render_audit_html(report: &AuditReport) -> String {
    let (open, quiet): (Vec<&FindingRow>, Vec<&FindingRow>) = report
        .findings
        .iter()
        .partition(|one| matches!(one.verdict, VerdictWord::Fail | VerdictWord::Unknown));
    let mut counts = Counts {
        servers: report.servers.len(),
        silent: report.servers.iter().filter(|server| server.why_not.is_some()).count(),
        clear: report.map.iter().filter(|path| path.stand == "clear").count(),
        ..Counts::default()
    };
    for one in &open {
        *match (report.acceptance(one).is_some(), one.verdict, one.severity) {
            (true, ..) => &mut counts.accepted,
            (_, VerdictWord::Unknown, _) => &mut counts.unknown,
            (_, _, SeverityWord::Critical) => &mut counts.critical,
            (_, _, SeverityWord::High) => &mut counts.high,
            _ => &mut counts.lower,
        } += 1;
    }
    let drawings: Vec<Value> = report
        .servers
        .iter()
        .take(DRAWN_MAX)
        .filter_map(|server| {
            let paths: Vec<_> = report.map.iter().filter(|path| path.server == server.name).collect();
            (!paths.is_empty()).then(|| safe(audit_map::draw(server, &paths)))
        })
        .collect();
    environment()
        .get_template("audit.html")
        .and_then(|page| {
            page.render(context! {
                r => Value::from_serialize(Frame::of(report)),
                style => safe(format!("{STYLE}{AUDIT_STYLE}")),
                counts => Value::from_serialize(&counts),
                paths => Value::from_serialize(paths(report)),
                drawings,
                drawn_max => DRAWN_MAX,
                open => Value::from_serialize(groups(report, &open)),
                quiet => Value::from_serialize(groups(report, &quiet)),
                gone => Value::from_serialize(report.baseline.as_ref().map(|baseline| &baseline.gone)),
            })
        })
        // Only a mistake in a template can fail here, and it is rendered by the tests of this crate.
        .expect("the templates are compiled in and speak of fields that exist")
}

/// What the template needs of the report as it is.
#[derive(Serialize)]
struct Frame<'r> {
    sealion_version: &'r str,
    started_unix_ms: u64,
    ended_unix_ms: u64,
    servers: &'r [crate::shape::AuditServerRow],
    not_looked_at: &'r [String],
    baseline_file: Option<&'r str>,
    standard: Option<&'r str>,
}

impl<'r> Frame<'r> {
    fn of(report: &'r AuditReport) -> Self {
        Self {
            sealion_version: &report.sealion_version,
            started_unix_ms: report.started_unix_ms,
            ended_unix_ms: report.ended_unix_ms,
            servers: &report.servers,
            not_looked_at: &report.not_looked_at,
            baseline_file: report.baseline.as_ref().map(|baseline| baseline.file.as_str()),
            standard: report.profile.as_ref().map(|profile| profile.standard.as_str()),
        }
    }
}

fn paths(report: &AuditReport) -> Vec<PathView<'_>> {
    let mut all: Vec<PathView<'_>> = Vec::new();
    for row in &report.map {
        let stand = StandView { server: &row.server, stand: &row.stand, why: &row.why };
        match all.iter_mut().find(|path| path.name == row.path) {
            Some(path) => path.stands.push(stand),
            None => all.push(PathView { name: &row.path, kind: &row.kind, stands: vec![stand] }),
        }
    }
    // No server has it.
    all.retain(|path| path.stands.iter().any(|one| one.stand != "none"));
    all
}

/// In the order of the findings; what is accepted comes last.
fn groups<'r>(report: &'r AuditReport, findings: &[&'r FindingRow]) -> Vec<Group<'r>> {
    let mut all: Vec<Group<'r>> = Vec::new();
    for one in findings {
        let accepted = report.acceptance(one);
        let expired = report
            .accepted
            .iter()
            .find(|row| row.is_expired && row.rule == one.rule && row.subject == one.subject);
        let subject = Subject {
            name: &one.subject,
            why: &one.why,
            remedy: &one.remedy,
            is_new: report.baseline.is_some() && report.is_new(one),
            expired,
        };
        let is_same = |group: &&mut Group<'_>| {
            group.first.rule == one.rule
                && group.first.verdict == one.verdict
                && group.accepted.map(|row| &row.reason) == accepted.map(|row| &row.reason)
        };
        match all.iter_mut().find(is_same) {
            Some(group) if group.subjects.len() < SUBJECTS_MAX => group.subjects.push(subject),
            Some(group) => group.more += 1,
            None => {
                all.push(Group {
                    first: one,
                    subjects: vec![subject],
                    more: 0,
                    has_own_remedies: false,
                    requirement: report.requirement(&one.rule),
                    accepted,
                });
            }
        }
    }
    for group in &mut all {
        group.has_own_remedies = group.subjects.iter().any(|one| one.remedy != group.first.remedy);
    }
    all.sort_by_key(|group| group.accepted.is_some());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> AuditReport {
        serde_json::from_str(include_str!("../../testdata/audit.json")).expect("an audit")
    }

    #[test]
    fn every_server_path_and_finding_is_on_the_page_and_nothing_of_theirs_is_markup() {
        let mut report = report();
        let evil = "</svg><script>alert(1)</script>";
        report.servers[0].name = evil.into();
        report.map.iter_mut().for_each(|row| row.server = evil.into());
        if let Some(one) = report.findings.iter_mut().find(|one| one.verdict == VerdictWord::Fail) {
            one.subject = evil.into();
            one.remedy = evil.into();
        }
        let page = render_audit_html(&report);
        assert!(!page.contains("<script>"), "{page}");
        for row in report.map.iter().filter(|row| row.stand != "none") {
            assert!(page.contains(&row.path), "{}", row.path);
        }
        for one in &report.findings {
            assert!(page.contains(&one.rule), "{}", one.rule);
        }
        assert!(page.contains("was not asked to the end"), "{page}");
    }

    #[test]
    fn an_audit_in_which_nothing_failed_does_not_say_more_than_that() {
        let mut report = report();
        report.findings.retain(|one| one.verdict == VerdictWord::Unknown);
        report.servers.iter_mut().for_each(|server| server.why_not = None);
        report.baseline = None;
        let page = render_audit_html(&report);
        assert!(page.contains("Nothing failed, but not everything could be judged."), "{page}");
        report.findings.clear();
        report.servers[0].why_not = Some("refused".into());
        assert!(render_audit_html(&report).contains("Nothing failed, but not every server was audited"));
    }
}

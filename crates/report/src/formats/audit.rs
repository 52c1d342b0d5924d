//! The forms that an audit can be written in, beside JSON. A new one is one function and one line in [`AUDIT_FORMATS`].

use serde_json::{Value, json};

use super::csv::quoted;
use super::scan::{junit, prometheus, sarif};
use crate::html::render_audit_html;
use crate::shape::{AuditReport, FindingRow, SeverityWord, VerdictWord};

/// What `--format` calls it, and how it is written.
pub type AuditFormat = (&'static str, fn(&AuditReport) -> String);

pub const AUDIT_FORMATS: &[AuditFormat] = &[
    ("csv", csv),
    ("sarif", sarif_log),
    ("junit", junit_suites),
    ("prometheus", textfile),
    ("html", render_audit_html),
];

fn is_bad(finding: &FindingRow) -> bool {
    matches!(finding.verdict, VerdictWord::Fail | VerdictWord::Unknown)
}

const HEADER: &str = "subject,rule,severity,verdict,title,why,remedy,accepted_until,is_new";

/// One line per finding, RFC 4180; a server that did not answer has a line too, with why.
fn csv(report: &AuditReport) -> String {
    let mut out = format!("{HEADER}\r\n");
    let mut line = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        out += &cells.join(",");
        out += "\r\n";
    };
    for one in &report.findings {
        let until = report.acceptance(one).map(|accepted| accepted.until.clone()).unwrap_or_default();
        line(&[
            &one.subject,
            &one.rule,
            &one.severity.to_string(),
            &one.verdict.to_string(),
            &one.title,
            &one.why,
            &one.remedy,
            &until,
            if report.is_new(one) { "yes" } else { "no" },
        ]);
    }
    for server in &report.servers {
        if let Some(why) = &server.why_not {
            line(&[&server.name, "", "", "unknown", "", why, "", "", ""]);
        }
    }
    out
}

/// SARIF 2.1.0: what failed, and what could not be judged.
///
/// Source: OASIS SARIF 2.1.0, 3.27 (result), 3.35 (suppression) and 3.49 (reportingDescriptor).
fn sarif_log(report: &AuditReport) -> String {
    let bad: Vec<&FindingRow> = report.findings.iter().filter(|one| is_bad(one)).collect();
    let mut rules: Vec<Value> = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    for one in &bad {
        if !ids.contains(&one.rule.as_str()) {
            ids.push(&one.rule);
            rules.push(json!({
                "id": one.rule,
                "shortDescription": {"text": one.title},
                "help": {"text": one.remedy},
                "properties": {"severity": one.severity.as_str()},
            }));
        }
    }
    let results: Vec<Value> = bad
        .iter()
        .map(|one| {
            let is_failure = one.verdict == VerdictWord::Fail;
            let mut result = json!({
                "ruleId": one.rule,
                "ruleIndex": ids.iter().position(|id| *id == one.rule),
                "kind": if is_failure { "fail" } else { "review" },
                // 3.27.10: a level other than "none" belongs to kind "fail" only.
                "level": if is_failure { sarif::level(one.severity) } else { "none" },
                "message": {"text": if one.why.is_empty() { &one.title } else { &one.why }},
                "locations": [{"logicalLocations": [{"fullyQualifiedName": one.subject, "kind": "resource"}]}],
                "partialFingerprints": {"sealion/1": format!("{} {}", one.rule, one.subject)},
            });
            if let Some(accepted) = report.acceptance(one) {
                let why = format!("until {}: {}", accepted.until, accepted.reason);
                result["suppressions"] =
                    json!([{"kind": "external", "status": "accepted", "justification": why}]);
            }
            if report.baseline.is_some() {
                // 3.27.24: all results have a state, or none.
                result["baselineState"] = if report.is_new(one) { "new" } else { "unchanged" }.into();
            }
            result
        })
        .collect();
    // 3.20.21: what kept the tool from a result.
    let silent: Vec<Value> = report
        .servers
        .iter()
        .filter_map(|server| {
            let text =
                format!("{} was not audited, or not to the end: {}", server.name, server.why_not.as_ref()?);
            Some(json!({"level": "error", "message": {"text": text}}))
        })
        .collect();
    let mut invocation = json!({"executionSuccessful": silent.is_empty()});
    if !silent.is_empty() {
        invocation["toolExecutionNotifications"] = silent.into();
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "sealion audit",
                "version": report.sealion_version,
                "rules": rules,
            }},
            "invocations": [invocation],
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("plain values");
    text.push('\n');
    text
}

/// A test suite, with a test case for each finding. What is unknown is an error, not a pass.
fn junit_suites(report: &AuditReport) -> String {
    // Why a finding stops no build, though it is bad.
    let pardon = |one: &FindingRow| -> Option<String> {
        if let Some(accepted) = report.acceptance(one) {
            return Some(format!("accepted until {}: {}", accepted.until, accepted.reason));
        }
        if one.severity == SeverityWord::Info {
            return Some(format!("info: {}", one.why));
        }
        (!report.is_new(one)).then(|| format!("in the baseline already: {}", one.why))
    };
    let count = |word: VerdictWord| {
        report.findings.iter().filter(|one| one.verdict == word && pardon(one).is_none()).count()
    };
    let silent: Vec<(&str, &str)> = report
        .servers
        .iter()
        .filter_map(|server| Some((server.name.as_str(), server.why_not.as_deref()?)))
        .collect();
    let (tests, failures, errors) = (
        report.findings.len() + silent.len(),
        count(VerdictWord::Fail),
        count(VerdictWord::Unknown) + silent.len(),
    );
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sealion audit\" {counts}>\n  \
         <testsuite name=\"sealion audit\" {counts}>\n"
    );
    for (name, why) in silent {
        out += &format!(
            "    <testcase classname=\"{}\" name=\"audited to the end\">\n      <error message=\"{}\"/>\n    </testcase>\n",
            junit::escaped(name),
            junit::escaped(why)
        );
    }
    for one in &report.findings {
        let head = format!(
            "    <testcase classname=\"{}\" name=\"{} {}\"",
            junit::escaped(&one.subject),
            junit::escaped(&one.rule),
            junit::escaped(&one.title)
        );
        if let Some(why) = pardon(one).filter(|_| is_bad(one)) {
            out += &format!("{head}><skipped message=\"{}\"/></testcase>\n", junit::escaped(&why));
        } else if is_bad(one) {
            let tag = if one.verdict == VerdictWord::Fail { "failure" } else { "error" };
            out += &format!(
                "{head}>\n      <{tag} type=\"{}\" message=\"{}\">remedy: {}</{tag}>\n    </testcase>\n",
                one.severity,
                junit::escaped(&one.why),
                junit::escaped(&one.remedy),
            );
        } else if one.verdict == VerdictWord::NotApplicable {
            out += &format!("{head}><skipped/></testcase>\n");
        } else {
            out += &format!("{head}/>\n");
        }
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// For node_exporter's textfile collector: how many findings a rule has by verdict, not one sample for each account.
fn textfile(report: &AuditReport) -> String {
    let mut out = String::from(
        "# HELP sealion_audit_up 1 if the server was asked to the end.\n# TYPE sealion_audit_up gauge\n",
    );
    for server in &report.servers {
        let is_up = u8::from(server.why_not.is_none());
        out += &format!("sealion_audit_up{{server=\"{}\"}} {is_up}\n", prometheus::escaped(&server.name));
    }
    let mut counts: std::collections::BTreeMap<(&str, &str, &str), u64> = std::collections::BTreeMap::new();
    for one in &report.findings {
        let word = match one.verdict {
            VerdictWord::Fail if report.acceptance(one).is_some() => "accepted",
            VerdictWord::Fail => "fail",
            VerdictWord::Unknown => "unknown",
            VerdictWord::Pass => "pass",
            VerdictWord::NotApplicable => continue,
        };
        *counts.entry((&one.rule, one.severity.as_str(), word)).or_default() += 1;
    }
    out += "# HELP sealion_audit_findings Findings of a rule by verdict: fail, accepted, unknown or pass.\n\
            # TYPE sealion_audit_findings gauge\n";
    for ((rule, severity, verdict), count) in counts {
        out += &format!(
            "sealion_audit_findings{{rule=\"{rule}\",severity=\"{severity}\",verdict=\"{verdict}\"}} {count}\n"
        );
    }
    out += "# HELP sealion_audit_timestamp_seconds When the audit ended, seconds since 1970.\n\
            # TYPE sealion_audit_timestamp_seconds gauge\n";
    out + &format!("sealion_audit_timestamp_seconds {}\n", report.ended_unix_ms / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> AuditReport {
        let mut report: AuditReport =
            serde_json::from_str(include_str!("../../testdata/audit.json")).expect("an audit");
        report.accepted.clear();
        report.baseline = None;
        report
    }

    fn rendered(name: &str, report: &AuditReport) -> String {
        let (_, render) = AUDIT_FORMATS.iter().find(|(one, _)| *one == name).expect("it is there");
        render(report)
    }

    #[test]
    fn a_finding_fails_a_build_unless_somebody_has_accepted_it_or_it_was_there_before() {
        let whole = report();
        let bad = whole.findings.iter().find(|one| one.verdict == VerdictWord::Fail).expect("one").clone();
        let fails = |report: &AuditReport| rendered("junit", report).matches("<failure ").count();
        assert_eq!(fails(&whole), 1);
        let mut accepted = whole.clone();
        accepted.accepted.push(crate::shape::AuditAcceptedRow {
            rule: bad.rule.clone(),
            subject: bad.subject.clone(),
            reason: "an old client".into(),
            until: "2027-03-01".into(),
            is_expired: false,
        });
        assert_eq!(fails(&accepted), 0);
        assert!(rendered("junit", &accepted).contains("accepted until 2027-03-01: an old client"));
        assert!(
            rendered("sarif", &accepted).contains("\"justification\": \"until 2027-03-01: an old client\"")
        );
        assert!(rendered("prometheus", &accepted).contains("verdict=\"accepted\"} 1\n"));
        accepted.accepted[0].is_expired = true;
        assert_eq!(fails(&accepted), 1, "past its day it counts again");
        let mut known = whole.clone();
        known.baseline = Some(crate::shape::AuditBaselineRow {
            file: "last.json".into(),
            started_unix_ms: 1,
            appeared: vec![],
            gone: vec![],
        });
        assert_eq!(fails(&known), 0);
        assert!(rendered("sarif", &known).contains("\"baselineState\": \"unchanged\""));
        known
            .baseline
            .as_mut()
            .expect("just set")
            .appeared
            .push(crate::shape::MendedRow { rule: bad.rule.clone(), subject: bad.subject.clone() });
        assert_eq!(fails(&known), 1);
    }

    #[test]
    fn a_server_that_did_not_answer_is_seen_in_every_form() {
        let whole = report();
        assert!(whole.servers[0].why_not.is_some(), "the sample has one");
        assert!(rendered("csv", &whole).contains("db1,,,unknown,,"));
        assert!(rendered("junit", &whole).contains("<error message=\"it was not asked to the end\"/>"));
        let sarif = rendered("sarif", &whole);
        assert!(sarif.contains("\"executionSuccessful\": false"));
        assert!(
            sarif.contains("db1 was not audited, or not to the end: it was not asked to the end"),
            "{sarif}"
        );
        assert!(rendered("prometheus", &whole).contains("sealion_audit_up{server=\"db1\"} 0\n"));
        for line in rendered("csv", &whole).lines() {
            assert!(line.matches(',').count() >= 8, "{line}");
        }
    }
}

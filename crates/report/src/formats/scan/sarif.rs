use serde_json::{Value, json};

use super::{ScanFormat, findings, is_bad};
use crate::shape::{ScanReport, SeverityWord, VerdictWord};

/// SARIF 2.1.0, for code hosts and security dashboards: what failed, and what could not be judged.
///
/// Source: OASIS SARIF 2.1.0, 3.27 (result) and 3.49 (reportingDescriptor).
pub struct Sarif;

impl ScanFormat for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }
    fn render(&self, report: &ScanReport) -> String {
        let mut rules: Vec<Value> = Vec::new();
        let mut ids: Vec<&str> = Vec::new();
        for (_, one) in findings(report).filter(|(_, one)| is_bad(one)) {
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
        let news = report.news();
        let results: Vec<Value> = findings(report)
            .filter(|(_, one)| is_bad(one))
            .map(|(target, one)| {
                let is_failure = one.verdict == VerdictWord::Fail;
                let mut result = json!({
                    "ruleId": one.rule,
                    "ruleIndex": ids.iter().position(|id| *id == one.rule),
                    "kind": if is_failure { "fail" } else { "review" },
                    // 3.27.10: a level other than "none" belongs to kind "fail" only.
                    "level": if is_failure { level(one.severity) } else { "none" },
                    "message": {"text": if one.why.is_empty() { &one.title } else { &one.why }},
                    "locations": [{"logicalLocations": [{"fullyQualifiedName": target.target, "kind": "resource"}]}],
                    "partialFingerprints": {"sealion/1": format!("{} {}", one.rule, target.target)},
                });
                if let Some(accepted) = target.acceptance(&one.rule) {
                    // 3.35: somebody outside of the code has decided.
                    let why = format!("until {}: {}", accepted.until, accepted.reason);
                    result["suppressions"] =
                        json!([{"kind": "external", "status": "accepted", "justification": why}]);
                }
                if report.changes.is_some() {
                    // 3.27.24: all results have a state, or none.
                    result["baselineState"] =
                        if news.has(target, one) { "new" } else { "unchanged" }.into();
                }
                result
            })
            .collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "sealion scan",
                    "version": report.sealion_version,
                    "rules": rules,
                }},
                "invocations": [{"executionSuccessful": report.is_complete}],
                "results": results,
            }],
        });
        let mut text = serde_json::to_string_pretty(&log).expect("plain values");
        text.push('\n');
        text
    }
}

pub fn level(severity: SeverityWord) -> &'static str {
    match severity {
        SeverityWord::Critical | SeverityWord::High => "error",
        SeverityWord::Medium => "warning",
        SeverityWord::Low | SeverityWord::Info => "note",
    }
}

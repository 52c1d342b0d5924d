//! The shape of a scan, its schema, and the forms that it is written in.

mod support;

use std::collections::BTreeSet;

use report::SCAN_SCHEMA;
use report::formats::scan::SCAN_FORMATS;
use report::shape::ScanReport;
use serde_json::Value;
use support::json::{is_described, validate, walk};

const SAMPLE: &str = include_str!("../testdata/scan.json");

fn schema() -> Value {
    serde_json::from_str(SCAN_SCHEMA).expect("docs/schema/scan-1.json is JSON")
}

fn sample() -> ScanReport {
    serde_json::from_str(SAMPLE).expect("testdata/scan.json is a scan")
}

fn rendered(name: &str, report: &ScanReport) -> String {
    let format = SCAN_FORMATS.iter().find(|format| format.name() == name);
    format.unwrap_or_else(|| panic!("no format {name}")).render(report)
}

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let (schema, value) = (schema(), serde_json::to_value(sample()).expect("plain"));
    is_described(&schema);
    let mut errors = Vec::new();
    validate(&schema, &schema, &value, "", &mut errors);
    assert_eq!(errors, Vec::<String>::new());
    let mut reached = BTreeSet::new();
    // The first target has all there can be; lists of the others may be empty.
    let mut whole = value.clone();
    whole["targets"].as_array_mut().expect("a list").truncate(1);
    walk(&schema, &schema, &whole, "", &mut reached);
    let mut broken = value;
    broken["targets"][0]["service"]["protocol"] = "gopher".into();
    let mut errors = Vec::new();
    validate(&schema, &schema, &broken, "", &mut errors);
    assert_eq!(errors, ["/targets/0/service: fits none of anyOf"]);
}

#[test]
fn json_is_read_back_as_it_was() {
    let read: ScanReport = serde_json::from_str(&rendered("json", &sample())).expect("what we wrote");
    assert_eq!(read, sample());
}

#[test]
fn csv_has_a_line_per_finding_and_one_for_a_dead_target_and_no_formula() {
    let mut report = sample();
    report.targets[0].findings[0].why = "=HYPERLINK(\"x\")".into();
    let text = rendered("csv", &report);
    let findings: usize = report.targets.iter().map(|target| target.findings.len().max(1)).sum();
    assert_eq!(text.matches("\r\n").count(), findings + 1);
    assert!(text.contains("\"'=HYPERLINK(\"\"x\"\")\""), "{text}");
    let columns = text.lines().next().expect("a header").split(',').count();
    assert_eq!(text.lines().last().expect("the dead one").split(',').count(), columns);
}

#[test]
fn sarif_has_what_failed_and_what_is_unknown_each_with_its_rule() {
    let log: Value = serde_json::from_str(&rendered("sarif", &sample())).expect("JSON");
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    let bad = sample()
        .targets
        .iter()
        .flat_map(|target| &target.findings)
        .filter(|one| matches!(one.verdict.as_str(), "fail" | "unknown"))
        .count();
    assert_eq!(results.len(), bad);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["kind"] == "review", result["level"] == "none", "{result}");
    }
}

#[test]
fn junit_counts_what_is_unknown_as_an_error_and_escapes_what_servers_say() {
    let mut report = sample();
    report.targets[0].findings[0].why = "<&\"\u{7}".into();
    let text = rendered("junit", &report);
    let tests: usize = report.targets.iter().map(|target| target.findings.len()).sum();
    assert!(text.contains(&format!("tests=\"{tests}\"")), "{text}");
    assert!(text.contains("&lt;&amp;&quot;\u{fffd}") && !text.contains('\u{7}'), "{text}");
    assert_eq!(text.matches("<testcase").count(), tests);
    assert_eq!(text.matches("<error").count(), 1);
}

#[test]
fn prometheus_has_the_end_of_each_certificate_as_a_number_and_no_sample_for_what_is_unknown() {
    let text = rendered("prometheus", &sample());
    let report = sample();
    let leaf = &report.targets[0].tls.as_ref().expect("TLS").chains[0][0];
    let line = format!("sha256=\"{}\"}} {}", leaf.sha256, leaf.not_after_unix);
    assert!(text.contains(&line), "{text}");
    let unknown = sample().targets[0]
        .findings
        .iter()
        .find(|one| one.verdict.as_str() == "unknown")
        .expect("one")
        .rule
        .clone();
    assert!(!text.contains(&unknown), "{text}");
    assert!(text.contains("sealion_scan_up{target=\"db2.example:3306\"} 0"), "{text}");
}

//! The shape of a scan, its schema, and the forms that it is written in.

use std::collections::BTreeSet;

use crate::support::json::{is_described, validate, walk};
use report::SCAN_SCHEMA;
use report::formats::scan::SCAN_FORMATS;
use report::shape::ScanReport;
use serde_json::Value;

const SAMPLE: &str = include_str!("../../testdata/scan.json");

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

/// The sample, compared with nothing and with nothing accepted.
fn plain_sample() -> ScanReport {
    let mut report = sample();
    report.changes = None;
    report.targets.iter_mut().for_each(|target| target.accepted.clear());
    report
}

#[test]
fn a_result_of_an_older_version_is_read() {
    let mut value = serde_json::to_value(sample()).expect("plain");
    let map = value.as_object_mut().expect("an object");
    for key in ["asked", "reused_keys", "rotates_next", "changes"] {
        map.remove(key).expect("it is there");
    }
    value["targets"][0].as_object_mut().expect("an object").remove("accepted").expect("it is there");
    value["targets"][0]["tls"]["chains"][0][0]
        .as_object_mut()
        .expect("one")
        .remove("key_sha256")
        .expect("one");
    let read: ScanReport = serde_json::from_value(value).expect("what was not known then is empty");
    assert!(
        read.asked.targets.is_empty()
            && read.changes.is_none()
            && read.targets.len() == sample().targets.len()
    );
}

#[test]
fn what_is_accepted_stops_no_build_and_what_has_expired_does() {
    let mut report = plain_sample();
    report.targets[0].accepted = sample().targets[0].accepted.clone();
    let failures = |report: &ScanReport| {
        (
            rendered("junit", report).matches("<failure").count(),
            rendered("sarif", report).matches("suppressions").count(),
        )
    };
    let (failed, _) = failures(&plain_sample());
    assert!(failed > 0);
    assert_eq!(failures(&report), (failed - 1, 1));
    assert!(rendered("junit", &report).contains("accepted until 2027-03-01: clients of the till"));
    let until = rendered("csv", &report).matches("2027-03-01").count();
    report.targets[0].accepted[0].is_expired = true;
    assert_eq!((failures(&report), until), ((failed, 0), 1));
    assert!(
        rendered("prometheus", &report)
            .contains("sealion_scan_accepted_until_seconds{target=\"db1.example:3306\",")
    );
}

#[test]
fn with_a_baseline_only_what_is_new_stops_a_build() {
    let mut report = sample();
    report.targets.iter_mut().for_each(|target| target.accepted.clear());
    let appeared = &report.changes.as_ref().expect("compared").targets[0].appeared;
    assert_eq!(rendered("junit", &report).matches("<failure").count(), appeared.len());
    assert_eq!(rendered("sarif", &report).matches("\"baselineState\": \"new\"").count(), appeared.len());
    report.changes.as_mut().expect("compared").targets.clear();
    assert_eq!(rendered("junit", &report).matches("<failure").count(), 0);
    assert!(!rendered("sarif", &plain_sample()).contains("baselineState"));
}

fn is_balanced(page: &str) {
    for tag in [
        "section", "table", "thead", "tbody", "tr", "td", "th", "div", "dl", "dt", "dd", "ul", "li",
        "details", "span", "p", "article", "header", "footer", "h2", "h3", "a",
    ] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "<{tag}>");
    }
    assert_eq!(page.matches("<h1").count(), 1);
    assert_eq!(
        page.matches("<caption>").count(),
        page.matches("<table").count(),
        "every table says what it is"
    );
}

#[test]
fn the_page_shows_all_of_a_scan_and_needs_nothing_but_itself() {
    let report = sample();
    let page = rendered("html", &report);
    is_balanced(&page);
    for way_out in ["http://", "https://", "<link", "<script", "@import", "<iframe", "<img", "javascript:"] {
        assert!(!page.contains(way_out), "the page has {way_out}");
    }
    // The style is that of the demo's page, too: its only url() is a pattern there.
    assert_eq!(page.matches("url(").count(), page.matches("url(#drain)").count());
    let target = &report.targets[0];
    let service = target.service.as_ref().expect("it answered");
    let mut wanted = vec![
        target.target.clone(),
        service.version.clone().expect("a version"),
        report.targets[1].target.clone(),
        "accepted until 2027-03-01: clients of the till".into(),
        "192.0.2.9".into(),
        "last-week.json".into(),
        "db3.example:3306".into(),
        target.tls.as_ref().expect("TLS").chains[0][0].subject.clone(),
    ];
    wanted.extend(target.findings.iter().map(|finding| finding.rule.clone()));
    for text in wanted {
        assert!(page.contains(&text), "the page does not show {text:?}");
    }
    let ended = ScanReport { is_complete: false, ..sample() };
    assert!(rendered("html", &ended).contains("This scan is incomplete"));
}

#[test]
fn nothing_that_a_server_says_becomes_markup() {
    let payload = "\"'><script>alert(1)</script><img src=x onerror=y>";
    let mut value = serde_json::to_value(sample()).expect("plain");
    let mut count = 0;
    crate::support::each_string(&mut value, &mut |_| count += 1);
    // One by one: what does not parse any more is a word of an enum and stays.
    for place in 0..count {
        let before = value.clone();
        let mut at = 0;
        crate::support::each_string(&mut value, &mut |string| {
            if at == place {
                payload.clone_into(string);
            }
            at += 1;
        });
        if serde_json::from_value::<ScanReport>(value.clone()).is_err() {
            value = before;
        }
    }
    let report: ScanReport = serde_json::from_value(value).expect("every change was tried");
    assert_eq!(report.targets[0].service.as_ref().expect("it answered").version.as_deref(), Some(payload));
    let page = rendered("html", &report);
    for raw in ["<script", "<img", "\"'>", "onerror=y>"] {
        assert!(!page.contains(raw), "{raw} is in the page as markup");
    }
    assert!(page.contains("&lt;script&gt;"));
    is_balanced(&page);
}

#[test]
fn a_page_of_very_many_targets_has_a_line_for_each_and_details_of_the_worst() {
    let mut report = plain_sample();
    let one = report.targets[0].clone();
    report.targets = (0..502)
        .map(|place| report::shape::TargetRow {
            target: format!("host{place}:3306"),
            grade: Some(if place == 501 { "F" } else { "A" }.into()),
            ..one.clone()
        })
        .collect();
    let page = rendered("html", &report);
    is_balanced(&page);
    assert_eq!(page.matches("<article").count(), 500);
    assert!((0..502).all(|place| page.contains(&format!("host{place}:3306"))));
    // The worst one leads, wherever it was.
    let first = page.find("<article").expect("there is one");
    assert!(
        page[first..].starts_with("<article class=\"host\" id=\"t1\" aria-label=\"host501:3306\""),
        "{}",
        &page[first..first + 90]
    );
    assert!(page.contains("The worst 500 of 502"));
}

#[test]
fn a_scan_of_nothing_is_shown_too() {
    let mut report = plain_sample();
    report.targets.clear();
    report.reused_keys.clear();
    report.rotates_next.clear();
    let page = rendered("html", &report);
    assert!(page.contains("Nothing answered."));
    is_balanced(&page);
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
    let dead = text.lines().last().expect("the dead one");
    assert_eq!(dead.split(',').count(), columns);
    assert!(dead.contains(&report.targets[1].not_seen.join("; ")), "{dead}");
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
    let mut report = plain_sample();
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

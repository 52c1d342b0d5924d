//! The shape, its schema and a sample agree, each with each.

use std::collections::BTreeSet;

use crate::support::json::{is_described, validate, walk};
use report::shape::{
    LinkKindWord, Outcome, PhaseEnd, SeenWord, SeverityWord, StatusOf, StepOutcome, VerdictWord,
};
use report::{DEMO_REPORT_SCHEMA, DemoReport, ReportError};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(DEMO_REPORT_SCHEMA).expect("docs/schema/demo-report-1.json is JSON")
}

fn errors(value: &Value) -> Vec<String> {
    let (schema, mut errors) = (schema(), Vec::new());
    validate(&schema, &schema, value, "", &mut errors);
    errors
}

#[test]
fn every_field_of_the_sample_is_published_and_every_published_field_is_in_the_sample() {
    let schema = schema();
    let mut reached = BTreeSet::new();
    walk(&schema, &schema, &crate::support::sample_value(), "", &mut reached);
    let never_filled: Vec<_> = reached
        .iter()
        .filter(|path| !path.ends_with('!') && !reached.contains(&format!("{path}!")))
        .collect();
    assert!(never_filled.is_empty(), "always null in the sample: {never_filled:?}");
}

#[test]
fn every_field_has_a_description_and_every_number_a_unit() {
    is_described(&schema());
}

#[test]
fn the_sample_is_valid_and_what_is_not_valid_is_told() {
    assert_eq!(errors(&crate::support::sample_value()), Vec::<String>::new());
    let broken = |pointer: &str, value: Value| {
        let mut sample = crate::support::sample_value();
        *sample.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
        errors(&sample)
    };
    assert_eq!(broken("/schema", json!("sealion/demo-report/2")), ["/schema: is not the constant"]);
    assert_eq!(
        broken("/summary/links/0/seen_after", json!("hidden")),
        ["/summary/links/0/seen_after: is not in the enum"]
    );
    assert_eq!(broken("/machine/cores", json!(-1)).len(), 1);
    assert_eq!(broken("/machine", json!({})).len(), 5);
    assert_eq!(broken("/join", json!(3)), ["/join: fits none of anyOf"]);
    assert!(broken("/join", Value::Null).is_empty());
}

#[test]
fn the_words_of_the_shape_are_the_words_of_the_schema() {
    fn check<T: serde::Serialize>(all: &[T], pointer: &str) {
        let published = schema().pointer(pointer).cloned().unwrap_or_else(|| panic!("no {pointer}"));
        assert_eq!(serde_json::to_value(all).expect("words are strings"), published, "{pointer}");
    }
    check(Outcome::ALL, "/$defs/summary/properties/verdict/enum");
    check(SeenWord::ALL, "/$defs/seen/enum");
    check(LinkKindWord::ALL, "/$defs/link/properties/kind/enum");
    check(StatusOf::ALL, "/$defs/status_row/properties/what/enum");
    check(SeverityWord::ALL, "/$defs/finding/properties/severity/enum");
    check(VerdictWord::ALL, "/$defs/finding/properties/verdict/enum");
    check(StepOutcome::ALL, "/$defs/step/properties/outcome/enum");
    check(PhaseEnd::ALL, "/$defs/phase/properties/ended/enum");
}

#[test]
fn a_report_survives_json() {
    let sample = crate::support::sample();
    assert_eq!(DemoReport::from_json(&sample.to_json()).expect("what was written can be read"), sample);
}

#[test]
fn another_version_is_refused_by_its_name() {
    let error =
        DemoReport::from_json("{\"schema\": \"sealion/demo-report/2\"}").expect_err("it is another version");
    assert!(
        matches!(&error, ReportError::Unsupported { found, .. } if found == "sealion/demo-report/2"),
        "{error}"
    );
    assert!(error.to_string().contains("next: "));
    assert!(matches!(DemoReport::from_json("[]"), Err(ReportError::NotAReport { .. })));
}

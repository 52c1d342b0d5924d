//! The shape of an audit and its schema.

use std::collections::BTreeSet;

use crate::support::json::{is_described, validate, walk};
use report::AUDIT_SCHEMA;
use report::shape::AuditReport;
use serde_json::Value;

const SAMPLE: &str = include_str!("../../testdata/audit.json");

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let schema: Value = serde_json::from_str(AUDIT_SCHEMA).expect("docs/schema/audit-1.json is JSON");
    let sample: AuditReport = serde_json::from_str(SAMPLE).expect("testdata/audit.json is an audit");
    let value = serde_json::to_value(sample).expect("plain");
    is_described(&schema);
    let check = |value: &Value| {
        let mut errors = Vec::new();
        validate(&schema, &schema, value, "", &mut errors);
        errors
    };
    assert_eq!(check(&value), Vec::<String>::new());
    walk(&schema, &schema, &value, "", &mut BTreeSet::new());
    let mut broken = value;
    broken["findings"][0]["verdict"] = "fine".into();
    assert!(!check(&broken).is_empty());
}

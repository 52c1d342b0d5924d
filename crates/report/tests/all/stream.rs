//! The shape of a copy and its schema.

use std::collections::BTreeSet;

use crate::support::json::{is_described, validate, walk};
use report::STREAM_SCHEMA;
use report::shape::StreamReport;
use serde_json::Value;

const SAMPLE: &str = include_str!("../../testdata/stream.json");

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let schema: Value = serde_json::from_str(STREAM_SCHEMA).expect("docs/schema/stream-1.json is JSON");
    let sample: StreamReport = serde_json::from_str(SAMPLE).expect("testdata/stream.json is a copy");
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
    broken["role"] = "thief".into();
    assert!(!check(&broken).is_empty());
}

//! The shape of `sealion bench load`, and its schema.

mod support;

use std::collections::BTreeSet;

use report::BENCH_LOAD_SCHEMA;
use report::shape::LoadReport;
use serde_json::Value;
use support::json::{is_described, validate, walk};

#[test]
fn the_shape_of_a_load_is_the_published_one() {
    let schema: Value = serde_json::from_str(BENCH_LOAD_SCHEMA).expect("a schema is JSON");
    let sample: Value =
        serde_json::from_str(include_str!("../testdata/bench-load.json")).expect("a sample is JSON");
    is_described(&schema);
    let read: LoadReport = serde_json::from_value(sample.clone()).expect("the sample is of the shape");
    assert_eq!(
        serde_json::to_value(&read).expect("plain"),
        sample,
        "a key of the sample is not of the shape"
    );
    let errors = |value: &Value| {
        let mut errors = Vec::new();
        validate(&schema, &schema, value, "", &mut errors);
        errors
    };
    assert_eq!(errors(&sample), Vec::<String>::new());
    walk(&schema, &schema, &sample, "", &mut BTreeSet::new());
    let mut broken = sample;
    broken["latency_ms"].as_object_mut().expect("an object").remove("p95").expect("it is there");
    broken["queries"] = "many".into();
    assert_eq!(errors(&broken).len(), 2);
}

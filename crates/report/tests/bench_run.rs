//! The shape of `sealion bench run`, and its schema.

mod support;

use std::collections::BTreeSet;

use report::BENCH_RUN_SCHEMA;
use report::shape::RunReport;
use serde_json::Value;
use support::json::{is_described, validate, walk};

#[test]
fn the_shape_of_an_experiment_is_the_published_one() {
    let schema: Value = serde_json::from_str(BENCH_RUN_SCHEMA).expect("a schema is JSON");
    let sample: Value =
        serde_json::from_str(include_str!("../testdata/bench-run.json")).expect("a sample is JSON");
    is_described(&schema);
    let read: RunReport = serde_json::from_value(sample.clone()).expect("the sample is of the shape");
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
    broken["levels"][0]["comparisons"][0]["ratio"] = "much".into();
    broken["unit"] = "miles".into();
    assert_eq!(errors(&broken).len(), 2);
}

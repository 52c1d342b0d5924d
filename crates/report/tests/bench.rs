//! The shapes of `sealion bench …`, and their schemas.

mod support;

use report::shape::{LoadReport, RunReport};
use report::{BENCH_LOAD_SCHEMA, BENCH_RUN_SCHEMA};
use support::json::{check, errors};

#[test]
fn the_shape_of_a_load_is_the_published_one() {
    let sample = include_str!("../testdata/bench-load.json");
    let (schema, mut broken) = check::<LoadReport>(BENCH_LOAD_SCHEMA, sample, |_| {});
    broken["latency_ms"].as_object_mut().expect("an object").remove("p95").expect("it is there");
    broken["queries"] = "many".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_an_experiment_is_the_published_one() {
    let sample = include_str!("../testdata/bench-run.json");
    let (schema, mut broken) = check::<RunReport>(BENCH_RUN_SCHEMA, sample, |_| {});
    broken["levels"][0]["comparisons"][0]["ratio"] = "much".into();
    broken["unit"] = "miles".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

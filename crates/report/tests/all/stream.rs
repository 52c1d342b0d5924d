//! The shape of a copy and its schema.

use crate::support::json::agrees;
use report::STREAM_SCHEMA;
use report::shape::StreamReport;

const SAMPLE: &str = include_str!("../../testdata/stream.json");

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let sample: StreamReport = serde_json::from_str(SAMPLE).expect("testdata/stream.json is a copy");
    let value = serde_json::to_value(sample).expect("plain");
    agrees(STREAM_SCHEMA, value, |value| {
        value["role"] = "thief".into();
    });
}

//! The sample that all tests of this crate look at: a whole, realistic `report.json`.
#![allow(dead_code)] // Each test file uses its part.

pub mod json;

use report::DemoReport;
use serde_json::Value;

pub const SAMPLE: &str = include_str!("../../../testdata/sample.json");

pub fn sample() -> DemoReport {
    DemoReport::from_json(SAMPLE).expect("testdata/sample.json is a report")
}

pub fn sample_value() -> Value {
    serde_json::to_value(sample()).expect("a report is JSON")
}

/// Every string of a value, with what to put in its place.
pub fn each_string(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|item| each_string(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| each_string(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A report in which every string that is not a word of the shape became `text`.
pub fn with_every_string(text: &str) -> DemoReport {
    let mut value = sample_value();
    // One by one: what does not parse any more is a word of an enum (or the schema id) and stays.
    let mut count = 0;
    each_string(&mut value, &mut |_| count += 1);
    for place in 0..count {
        let before = value.clone();
        let mut at = 0;
        each_string(&mut value, &mut |string| {
            if at == place {
                text.clone_into(string);
            }
            at += 1;
        });
        if DemoReport::from_json(&value.to_string()).is_err() {
            value = before;
        }
    }
    DemoReport::from_json(&value.to_string()).expect("every change was tried")
}

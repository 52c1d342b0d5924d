//! The shapes of `sealion prove client`, `prove clients` and `prove config`, and their schemas.

mod support;

use std::collections::BTreeSet;

use report::shape::{ProveClientReport, ProveClientsReport, ProveConfigReport};
use report::{PROVE_CLIENT_SCHEMA, PROVE_CLIENTS_SCHEMA, PROVE_CONFIG_SCHEMA};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use support::json::{is_described, validate, walk};

fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    validate(schema, schema, value, "", &mut errors);
    errors
}

/// Shape, schema and sample agree, each with each; `whole` is the part of the sample without empty lists.
fn check<T: Serialize + DeserializeOwned>(
    schema: &str,
    sample: &str,
    whole: impl Fn(&mut Value),
) -> (Value, Value) {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    let sample: Value = serde_json::from_str(sample).expect("a sample is JSON");
    is_described(&schema);
    let read: T = serde_json::from_value(sample.clone()).expect("the sample is of the shape");
    let written = serde_json::to_value(read).expect("plain");
    assert_eq!(written, sample, "a key of the sample is not of the shape");
    assert_eq!(errors(&schema, &written), Vec::<String>::new());
    let mut filled = written.clone();
    whole(&mut filled);
    let mut reached = BTreeSet::new();
    walk(&schema, &schema, &filled, "", &mut reached);
    (schema, sample)
}

#[test]
fn the_shape_of_one_client_is_the_published_one() {
    let (schema, mut broken) = check::<ProveClientReport>(
        PROVE_CLIENT_SCHEMA,
        include_str!("../testdata/prove-client.json"),
        |_| {},
    );
    broken["cases"][0]["verdict"] = "XX".into();
    broken["fallen"] = (-1).into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

#[test]
fn the_shape_of_the_matrix_is_the_published_one() {
    let (schema, mut broken) = check::<ProveClientsReport>(
        PROVE_CLIENTS_SCHEMA,
        include_str!("../testdata/prove-clients.json"),
        |value| value["clients"].as_array_mut().expect("a list").truncate(1),
    );
    broken["clients"][1].as_object_mut().expect("an object").remove("why").expect("it is there");
    broken["clients"][0]["modes"][0]["promises"] = "everything".into();
    assert_eq!(
        errors(&schema, &broken),
        ["/clients/0/modes/0/promises: is not in the enum", "/clients/1: lacks why"]
    );
}

#[test]
fn the_shape_of_settings_is_the_published_one() {
    let (schema, mut broken) = check::<ProveConfigReport>(
        PROVE_CONFIG_SCHEMA,
        include_str!("../testdata/prove-config.json"),
        |value| {
            value["connections"].as_array_mut().expect("a list").truncate(1);
            value["connections"][0]["predictions"].as_array_mut().expect("a list").truncate(1);
        },
    );
    broken["connections"][0]["severity"] = "terrible".into();
    broken["connections"][1].as_object_mut().expect("an object").remove("why").expect("it is there");
    assert_eq!(
        errors(&schema, &broken),
        ["/connections/0/severity: is not in the enum", "/connections/1: lacks why"]
    );
}

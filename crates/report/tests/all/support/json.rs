//! A small validator for the schemas of `docs/schema`, and the walk that holds a shape to its schema.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Follows a `$ref`; of an `anyOf`, the one that is not null.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(name) = schema["$ref"].as_str() {
        let found = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
        return resolved(root, found);
    }
    match schema["anyOf"].as_array() {
        Some(any) => resolved(root, any.iter().find(|one| one["type"] != "null").expect("one is not null")),
        None => schema,
    }
}

/// The subset of draft 2020-12 that the schema uses; anything else in it fails the test.
pub fn validate(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let mut complain = |what: &str| errors.push(format!("{path}: {what}"));
        match keyword.as_str() {
            "description" | "title" | "x-unit" | "$defs" | "$schema" | "$id" => {} // Words for people.
            "$ref" => {
                let target = wanted.as_str().and_then(|name| root.pointer(name.trim_start_matches('#')));
                validate(root, target.expect("the $ref has a target"), value, path, errors);
            }
            "anyOf" => {
                let fits = |one: &Value| {
                    let mut errors = Vec::new();
                    validate(root, one, value, path, &mut errors);
                    errors.is_empty()
                };
                if !wanted.as_array().expect("a list").iter().any(fits) {
                    complain("fits none of anyOf");
                }
            }
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a type has a name") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    other => panic!("the validator does not know the type {other}"),
                };
                if !wanted.as_array().map_or_else(|| is(wanted), |list| list.iter().any(is)) {
                    complain(&format!("is not of type {wanted}: {value}"));
                }
            }
            "required" => {
                for key in wanted.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if value.is_object() && value.get(key).is_none() {
                        complain(&format!("lacks {key}"));
                    }
                }
            }
            "properties" => {
                for (key, of) in wanted.as_object().expect("a map") {
                    if let Some(item) = value.get(key) {
                        validate(root, of, item, &format!("{path}/{key}"), errors);
                    }
                }
            }
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, wanted, item, &format!("{path}/{place}"), errors);
                }
            }
            "enum" => {
                if !wanted.as_array().expect("a list").contains(value) {
                    complain("is not in the enum");
                }
            }
            "const" => {
                if wanted != value {
                    complain("is not the constant");
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < wanted.as_f64().unwrap_or(0.0)) {
                    complain("is below the minimum");
                }
            }
            // The one pattern of the schema: pairs of hexadecimal digits.
            "pattern" => {
                assert_eq!(wanted, "^([0-9a-f]{2})*$");
                let hex = value.as_str().unwrap_or_default();
                if !hex.len().is_multiple_of(2)
                    || hex.chars().any(|char| !matches!(char, '0'..='9' | 'a'..='f'))
                {
                    complain("does not match the pattern");
                }
            }
            other => panic!("{path}: the validator does not know {other}"),
        }
    }
}

/// Every object of the value has exactly the keys of its schema, and each schema was reached.
pub fn walk(root: &Value, schema: &Value, value: &Value, path: &str, reached: &mut BTreeSet<String>) {
    let schema = resolved(root, schema);
    match value {
        Value::Object(map) => {
            let written: BTreeSet<&String> = map.keys().collect();
            let published: BTreeSet<&String> = schema["properties"]
                .as_object()
                .unwrap_or_else(|| panic!("{path}: no properties"))
                .keys()
                .collect();
            assert_eq!(written, published, "{path}: what is written (left) and what is published (right)");
            let required: BTreeSet<&str> =
                schema["required"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
            assert_eq!(
                required,
                published.iter().map(|key| key.as_str()).collect(),
                "{path}: every key is always there"
            );
            for (key, item) in map {
                if !item.is_null() {
                    walk(root, &schema["properties"][key], item, &format!("{path}/{key}"), reached);
                }
                // By what the object is, not by where it lies: a node before has no certificate, one after has.
                let field = format!("{}: {key}", schema["description"]);
                reached.insert(if item.is_null() { field } else { format!("{field}!") });
            }
        }
        Value::Array(list) => {
            assert!(!list.is_empty(), "{path}: the sample should have at least one item here");
            for item in list {
                walk(root, &schema["items"], item, &format!("{path}[]"), reached);
            }
        }
        _ => {}
    }
}

/// Every field has a description, every number a unit.
pub fn is_described(schema: &Value) {
    fn check(schema: &Value, path: &str) {
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}/{key}");
            assert!(
                of["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{path} has no description"
            );
            let items = if of["items"]["$ref"].is_null() { &of["items"] } else { &Value::Null };
            for of in [of, items] {
                let types = of["type"].to_string();
                let is_number = types.contains("integer") || types.contains("number");
                assert!(!is_number || of["x-unit"].is_string(), "{path} has no unit");
            }
        }
    }
    check(schema, "");
    for (name, of) in schema["$defs"].as_object().expect("a map") {
        check(of, name);
    }
}

/// What is wrong with a value.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    validate(schema, schema, value, "", &mut errors);
    errors
}

/// Shape, schema and sample agree, each with each; `whole` is the part of the sample without empty lists.
pub fn check<T: Serialize + DeserializeOwned>(
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

/// Schema and value agree key by key, every field is described, and what `spoil` makes of the value is refused.
pub fn agrees(schema: &str, value: Value, spoil: impl FnOnce(&mut Value)) {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    is_described(&schema);
    let check = |value: &Value| {
        let mut errors = Vec::new();
        validate(&schema, &schema, value, "", &mut errors);
        errors
    };
    assert_eq!(check(&value), Vec::<String>::new());
    walk(&schema, &schema, &value, "", &mut BTreeSet::new());
    let mut spoilt = value;
    spoil(&mut spoilt);
    assert!(!check(&spoilt).is_empty(), "the schema lets anything through");
}

//! The shape of an audit and its schema.

use crate::support::json::agrees;
use report::AUDIT_SCHEMA;
use report::shape::AuditReport;

const SAMPLE: &str = include_str!("../../testdata/audit.json");

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let sample: AuditReport = serde_json::from_str(SAMPLE).expect("testdata/audit.json is an audit");
    let value = serde_json::to_value(sample).expect("plain");
    agrees(AUDIT_SCHEMA, value, |value| {
        value["findings"][0]["verdict"] = "fine".into();
    });
}

//! The shapes of an audit and of a fix plan, and their schemas.

use crate::support::json::agrees;
use report::shape::{AuditReport, FixPlanReport, LeakReport};
use report::{AUDIT_SCHEMA, FIX_PLAN_SCHEMA, LEAK_SCHEMA};

const SAMPLE: &str = include_str!("../../testdata/audit.json");

#[test]
fn the_shape_and_its_schema_agree_and_every_field_is_described() {
    let sample: AuditReport = serde_json::from_str(SAMPLE).expect("testdata/audit.json is an audit");
    let value = serde_json::to_value(sample).expect("plain");
    agrees(AUDIT_SCHEMA, value, |value| {
        value["findings"][0]["verdict"] = "fine".into();
    });
}

#[test]
fn the_shape_of_a_fix_plan_and_its_schema_agree() {
    let sample: FixPlanReport = serde_json::from_str(include_str!("../../testdata/fix-plan.json"))
        .expect("testdata/fix-plan.json is one");
    let value = serde_json::to_value(sample).expect("plain");
    agrees(FIX_PLAN_SCHEMA, value, |value| {
        value["steps"][0]["stage"] = "soon".into();
    });
}

#[test]
fn the_shape_of_a_leak_and_its_schema_agree() {
    let sample: LeakReport = serde_json::from_str(include_str!("../../testdata/audit-leak.json"))
        .expect("testdata/audit-leak.json is one");
    let value = serde_json::to_value(sample).expect("plain");
    agrees(LEAK_SCHEMA, value, |value| {
        value["leak"] = "the cat".into();
    });
}

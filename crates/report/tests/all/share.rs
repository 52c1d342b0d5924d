//! The shapes of `sealion share list` and `sealion share audit`, and their schemas.

use crate::support::json::{check, errors};
use report::shape::{ShareAuditReport, ShareListReport};
use report::{SHARE_AUDIT_SCHEMA, SHARE_LIST_SCHEMA};

#[test]
fn the_shapes_of_grants_and_logs_are_the_published_ones() {
    let sample = include_str!("../../testdata/share-list.json");
    let (schema, mut broken) = check::<ShareListReport>(SHARE_LIST_SCHEMA, sample, |value| {
        value["grants"].as_array_mut().expect("a list").truncate(1);
    });
    broken["grants"][0]["proxies"][0]["state"] = "fine".into();
    broken["grants"][1].as_object_mut().expect("an object").remove("revoked_unix_s").expect("it is there");
    assert_eq!(errors(&schema, &broken).len(), 2);
    let sample = include_str!("../../testdata/share-audit.json");
    let (schema, mut broken) = check::<ShareAuditReport>(SHARE_AUDIT_SCHEMA, sample, |value| {
        value["proxies"].as_array_mut().expect("a list").truncate(1);
    });
    broken["proxies"][0]["verdict"] = "fine".into();
    broken["proxies"][0]["entries"][1]["number"] = 0.into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

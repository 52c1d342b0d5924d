//! The shapes of `sealion status rest`, `sealion status disk` and `sealion diagnose`, and their schemas.

use crate::support::json::{check, errors};
use report::shape::{DiagnoseReport, KeysDrillReport, KeysListReport, StatusDiskReport, StatusRestReport};
use report::{DIAGNOSE_SCHEMA, KEYS_DRILL_SCHEMA, KEYS_LIST_SCHEMA, STATUS_DISK_SCHEMA, STATUS_REST_SCHEMA};

#[test]
fn the_shape_of_data_at_rest_is_the_published_one() {
    let sample = include_str!("../../testdata/status-rest.json");
    let (schema, mut broken) = check::<StatusRestReport>(STATUS_REST_SCHEMA, sample, |value| {
        value["artefacts"].as_array_mut().expect("a list").truncate(1);
    });
    broken["artefacts"][0]["verdict"] = "fine".into();
    broken["artefacts"][1].as_object_mut().expect("an object").remove("sql").expect("it is there");
    broken["counts"]["plain"] = (-1).into();
    assert_eq!(errors(&schema, &broken).len(), 3);
}

#[test]
fn the_shape_of_block_stacks_and_headers_is_the_published_one() {
    let sample = include_str!("../../testdata/status-disk.json");
    let (schema, mut broken) = check::<StatusDiskReport>(STATUS_DISK_SCHEMA, sample, |value| {
        value["paths"].as_array_mut().expect("a list").truncate(1);
    });
    broken["paths"][0]["coverage"] = "fine".into();
    broken["paths"][0]["header"]["slots"][1]
        .as_object_mut()
        .expect("an object")
        .remove("opens")
        .expect("there");
    broken["paths"][1]["layers"][0]["depth"] = (-1).into();
    assert_eq!(errors(&schema, &broken).len(), 3);
}

#[test]
fn the_shape_of_a_diagnosis_is_the_published_one() {
    let sample = include_str!("../../testdata/diagnose.json");
    let (schema, mut broken) = check::<DiagnoseReport>(DIAGNOSE_SCHEMA, sample, |_| ());
    broken["verdict"] = "fine".into();
    broken["problems"][0]["kind"] = "bad".into();
    broken["copies"][0].as_object_mut().expect("an object").remove("opens").expect("it is there");
    assert_eq!(errors(&schema, &broken).len(), 3);
}

#[test]
fn the_shapes_of_copies_and_drills_are_the_published_ones() {
    let sample = include_str!("../../testdata/keys-list.json");
    let (schema, mut broken) = check::<KeysListReport>(KEYS_LIST_SCHEMA, sample, |value| {
        value["copies"].as_array_mut().expect("a list").truncate(1);
    });
    broken["copies"][0]["opens"] = "yes".into();
    broken["copies"][1].as_object_mut().expect("an object").remove("why").expect("it is there");
    assert_eq!(errors(&schema, &broken).len(), 2);
    let sample = include_str!("../../testdata/keys-drill.json");
    let (schema, mut broken) = check::<KeysDrillReport>(KEYS_DRILL_SCHEMA, sample, |_| ());
    broken["verdict"] = "fine".into();
    broken["files_tried"] = (-1).into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

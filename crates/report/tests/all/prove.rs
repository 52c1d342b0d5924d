//! The shapes of `sealion prove …`, and their schemas.

use crate::support::json::{check, errors};
use report::shape::{
    ProveClientReport, ProveClientsReport, ProveConfigReport, ProveDiskReport, ProveRelayReport,
    ProveSniffReport, ProveTourReport,
};
use report::{
    PROVE_CLIENT_SCHEMA, PROVE_CLIENTS_SCHEMA, PROVE_CONFIG_SCHEMA, PROVE_DISK_SCHEMA, PROVE_RELAY_SCHEMA,
    PROVE_SNIFF_SCHEMA, PROVE_TOUR_SCHEMA,
};
use serde_json::Value;

#[test]
fn the_shape_of_one_client_is_the_published_one() {
    let (schema, mut broken) = check::<ProveClientReport>(
        PROVE_CLIENT_SCHEMA,
        include_str!("../../testdata/prove-client.json"),
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
        include_str!("../../testdata/prove-clients.json"),
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
        include_str!("../../testdata/prove-config.json"),
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

#[test]
fn the_shape_of_what_an_eavesdropper_reads_is_the_published_one() {
    let sample = include_str!("../../testdata/prove-sniff.json");
    let (schema, mut broken) = check::<ProveSniffReport>(PROVE_SNIFF_SCHEMA, sample, |_| {});
    broken["canaries"][0]["place"] = "nowhere".into();
    broken["connections"][0]["mysql"]["compressed"] = "lz4".into();
    assert_eq!(errors(&schema, &broken).len(), 2);
    // Written a connection a line, it is the same.
    let whole: ProveSniffReport = serde_json::from_str(sample).expect("of the shape");
    let mut text = String::new();
    whole.lines(whole.connections.iter().cloned(), &mut |line| text += &format!("{line}\n"));
    assert_eq!(serde_json::from_str::<ProveSniffReport>(&text).expect("of the shape"), whole);
    assert_eq!(text.lines().count(), whole.connections.len() + 2);
}

#[test]
fn the_shape_of_a_relay_is_the_published_one() {
    let sample = include_str!("../../testdata/prove-relay.json");
    let (schema, mut broken) = check::<ProveRelayReport>(PROVE_RELAY_SCHEMA, sample, |_| {});
    broken["connections"][0]["strip"] = "maybe".into();
    assert_eq!(errors(&schema, &broken), ["/connections/0/strip: is not in the enum"]);
}

#[test]
fn the_shape_of_a_tour_is_the_published_one_and_its_page_escapes_what_peers_say() {
    let sample = include_str!("../../testdata/prove-tour.json");
    let (schema, mut broken) = check::<ProveTourReport>(PROVE_TOUR_SCHEMA, sample, |_| {});
    broken["chapters"][0]["lessons"][0]["again"]["succeeded"] = Value::Null;
    assert_eq!(errors(&schema, &broken).len(), 1);
    let mut report: ProveTourReport = serde_json::from_str(sample).expect("of the shape");
    let page = report::html::render_tour_html(&report);
    for text in
        ["Each attack succeeds", "1. Stripping", "succeeds</strong>", "fails</strong>", "&lt;b&gt;markup"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("<b>markup") && !page.contains("<script") && !page.contains("role=\"alert\""));
    report.is_complete = false;
    report.is_shown = false;
    report.chapters[0].lessons[0].is_shown = false;
    let page = report::html::render_tour_html(&report);
    assert!(
        page.contains("Not every attack had the expected result")
            && page.matches("role=\"alert\"").count() == 2
    );
}

#[test]
fn the_shape_of_canaries_in_files_is_the_published_one() {
    let sample = include_str!("../../testdata/prove-disk.json");
    let (schema, mut broken) = check::<ProveDiskReport>(PROVE_DISK_SCHEMA, sample, |_| {});
    broken["artefacts"][0]["verdict"] = "sealed".into();
    broken["artefacts"][0]["files"][0]["times"] = 0.into();
    assert_eq!(errors(&schema, &broken).len(), 2);
}

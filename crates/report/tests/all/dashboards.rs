//! The dashboards that are shipped ask for nothing that `sealion watch` does not export, and for all that it does.

use std::collections::BTreeSet;

use report::metrics::{METRICS, MetricKind};
use serde_json::Value;

const DASHBOARDS: [&str; 2] = [
    include_str!("../../../../packaging/grafana/sealion-fleet.json"),
    include_str!("../../../../packaging/grafana/sealion-server.json"),
];

/// Of an expression: each metric, with the labels that are named in its braces.
fn metrics(expression: &str) -> Vec<(String, Vec<String>)> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find("sealion_") {
        let (_, begins) = rest.split_at(at);
        let end = begins.find(|char| !is_word(char)).unwrap_or(begins.len());
        let (name, behind) = begins.split_at(end);
        let labels = behind
            .strip_prefix('{')
            .and_then(|braces| braces.split_once('}'))
            .map_or("", |(labels, _)| labels);
        let mut labels = labels.split(['=', '!']).filter_map(|part| part.rsplit([',', '"']).next());
        let labels = labels.by_ref().filter(|label| !label.is_empty() && label.chars().all(is_word));
        found.push((name.to_owned(), labels.map(str::to_owned).collect()));
        rest = behind;
    }
    found
}

fn expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().expect("panels");
    let of_panels = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    let of_panels = of_panels.map(|target| target["expr"].as_str().expect("an expression").to_owned());
    of_panels
        .chain(variables.iter().filter_map(|one| one["definition"].as_str()).map(str::to_owned))
        .collect()
}

#[test]
fn dashboards_ask_for_what_is_exported_and_for_all_of_it() {
    let mut asked = BTreeSet::new();
    for text in DASHBOARDS {
        let dashboard: Value = serde_json::from_str(text).expect("JSON");
        for expression in expressions(&dashboard) {
            let found = metrics(&expression);
            assert!(!found.is_empty(), "{expression}");
            for (name, labels) in found {
                let is_it = |metric: &&&report::metrics::Metric| {
                    metric.name == name
                        || metric.kind == MetricKind::Histogram
                            && ["_bucket", "_sum", "_count"]
                                .iter()
                                .any(|end| format!("{}{end}", metric.name) == name)
                };
                let metric = METRICS
                    .iter()
                    .find(is_it)
                    .unwrap_or_else(|| panic!("{name} is not exported: {expression}"));
                for label in labels {
                    assert!(
                        metric.labels.contains(&label.as_str()),
                        "{name} has no label {label}: {expression}"
                    );
                }
                asked.insert(metric.name);
            }
        }
    }
    let all: BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(asked, all, "what is exported and shown nowhere");
}

#[test]
fn dashboards_can_be_imported_anywhere() {
    for text in DASHBOARDS {
        let dashboard: Value = serde_json::from_str(text).expect("JSON");
        assert!(dashboard["id"].is_null(), "an id is of one Grafana");
        let uid = dashboard["uid"].as_str().expect("fixed, so that an import replaces what was there");
        assert!(uid.starts_with("sealion-") && uid.len() <= 40, "{uid}");
        let panels = dashboard["panels"].as_array().expect("panels");
        let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().expect("a number")).collect();
        assert_eq!(ids.len(), panels.len(), "two panels have one id");
        for panel in panels {
            let title = &panel["title"];
            assert!(panel["description"].as_str().is_some_and(|text| !text.is_empty()), "{title}");
            for asks in panel["targets"].as_array().expect("targets").iter().chain([panel]) {
                assert_eq!(
                    asks["datasource"]["uid"], "${datasource}",
                    "{title}: a data source of one Grafana"
                );
            }
        }
    }
}

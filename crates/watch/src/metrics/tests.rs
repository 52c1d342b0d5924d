#![allow(clippy::unwrap_used)]

use model::LinkKind;
use report::metrics::{METRICS, label_value};

use super::*;
use crate::state::{LinkSight, Look, ServerSight, Sights, advance};

fn state(name: &str) -> State {
    let sights = Sights {
        servers: vec![ServerSight {
            name: name.into(),
            address: "a".into(),
            answer: Ok(("1".into(), "up".into())),
        }],
        links: vec![LinkSight {
            kind: LinkKind::Client,
            a: "client".into(),
            b: name.into(),
            state: LinkState::Plain,
            why: String::new(),
        }],
        ..Sights::default()
    };
    let look = Look { servers: vec![name.into()], took_ms: 1200, interval_s: 60, outcome: Ok(sights) };
    advance(&State::default(), &look, 5_000).0
}

#[test]
fn a_plain_link_is_plain_and_everything_else_is_told_beside_it() {
    let text = text("c", &state("n1"), None, None);
    for line in [
        "sealion_link_state{cluster=\"c\",from=\"client\",to=\"n1\",kind=\"client\",state=\"plain\"} 1",
        "sealion_link_state{cluster=\"c\",from=\"client\",to=\"n1\",kind=\"client\",state=\"encrypted\"} 0",
        "sealion_link_state{cluster=\"c\",from=\"client\",to=\"n1\",kind=\"client\",state=\"unknown\"} 0",
        "sealion_scan_last_success_timestamp_seconds{cluster=\"c\",server=\"n1\"} 5",
        "sealion_scan_errors_total{cluster=\"c\",server=\"n1\",reason=\"no_answer\"} 0",
        "sealion_scan_duration_seconds_bucket{cluster=\"c\",le=\"1\"} 0",
        "sealion_scan_duration_seconds_bucket{cluster=\"c\",le=\"2\"} 1",
        "sealion_scan_duration_seconds_count{cluster=\"c\"} 1",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    assert!(
        super::text("c", &State::default(), None, None).starts_with("# HELP sealion_build_info"),
        "before the first look too"
    );
}

/// As Prometheus reads a label's value.
fn unescaped(text: &str) -> String {
    let (mut out, mut chars) = (String::new(), text.chars());
    while let Some(char) = chars.next() {
        match (char, char == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            (other, false) => out.push(other),
        }
    }
    out
}

proptest::proptest! {
    #[test]
    fn any_name_is_read_back_as_it_is_and_makes_no_line_of_its_own(name in "[^\0]{0,40}") {
        proptest::prop_assert_eq!(unescaped(&label_value(&name)), name.clone());
        let lines = text("c", &state(&name), None, None).lines().count();
        let plain = text("c", &state("n1"), None, None).lines().count();
        // An empty name is no label, and its link has one series less to tell apart.
        proptest::prop_assert!(lines <= plain);
    }
}

/// Rules of alerts that are shipped name no metric that nobody exports.
#[test]
fn alerts_are_about_what_is_exported() {
    let rules = include_str!("../../../../packaging/prometheus/sealion.rules.yml");
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let named: Vec<&str> =
        rules.split(|char| !is_of_name(char)).filter(|word| word.starts_with("sealion_")).collect();
    assert!(named.len() > 8, "{named:?}");
    for word in named {
        let known = METRICS.iter().any(|metric| {
            word == metric.name
                || ["_bucket", "_sum", "_count"].iter().any(|end| word.strip_suffix(end) == Some(metric.name))
        });
        assert!(known, "{word} is exported by nobody");
    }
    let of_states = rules.matches("state=\"").count();
    assert!(
        of_states > 0
            && LinkState::ALL.iter().any(|state| rules.contains(&format!("state=\"{}\"", state.as_str())))
    );
}

//! Nodes and clients on a circle, each link drawn as what was seen on it.
//!
//! Plain is a solid line with the words "cleartext", sealed a double line with a lock, unknown a dashed one with a
//! question mark: no colour is needed to tell them apart.

use std::f64::consts::PI;

use crate::shape::{DemoReport, LinkRow, NodeStatus, SeenWord};

use super::svg::{Svg, short};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 440.0;
const RADIUS: f64 = 180.0;
const BOX: (f64, f64) = (96.0, 40.0);
const MARGIN: f64 = 4.0;
const LABEL_HEIGHT: f64 = 19.0;
/// Between the middles of two links of one pair.
const LANE: f64 = 25.0;
/// More ends than this do not fit a circle of this size; the table has them all.
const ENDS_MAX: usize = 12;

#[derive(Clone, Copy, PartialEq)]
pub enum When {
    Before,
    After,
}

struct End {
    name: String,
    /// `None` for clients.
    address: Option<String>,
    is_there: bool,
    x: f64,
    y: f64,
}

/// A rectangle that is taken: middle and size.
type Taken = (f64, f64, f64, f64);

pub fn draw(report: &DemoReport, when: When) -> String {
    let mut ends = ends(report, when);
    // An odd number of ends leaves the top of the circle empty.
    // Links of one pair bow outwards, over the upper edge of its boxes, by half of their lanes.
    let bow = (lanes_max(report) as f64 - 1.0).max(0.0) / 2.0 * LANE + LABEL_HEIGHT / 2.0;
    let above = (BOX.1 / 2.0).max(bow) + MARGIN;
    let top = ends.iter().map(|end| end.y).fold(HEIGHT / 2.0, f64::min) - above;
    for end in &mut ends {
        end.y -= top;
    }
    let height = ends.iter().map(|end| end.y).fold(0.0, f64::max) + BOX.1 / 2.0 + MARGIN;
    let mut svg = Svg::default();
    let mut taken: Vec<Taken> = ends.iter().map(|end| (end.x, end.y, BOX.0, BOX.1)).collect();
    let shown: Vec<(&LinkRow, SeenWord, &End, &End)> = report
        .summary
        .links
        .iter()
        .filter_map(|link| {
            let find = |name: &str| ends.iter().find(|end| end.name == name);
            let (a, b) = (find(&link.a)?, find(&link.b)?);
            let (seen, payload_bytes) = match when {
                When::Before => (link.seen_before, link.payload_bytes_before),
                When::After => (link.seen_after, link.payload_bytes_after),
            };
            // A node that was not there yet has no links; a transfer that did not happen is a row of the table.
            let is_silent_transfer = payload_bytes == 0
                && matches!(link.kind, crate::shape::LinkKindWord::Ist | crate::shape::LinkKindWord::Sst);
            (a.is_there && b.is_there && !(is_silent_transfer && seen == SeenWord::Unknown))
                .then_some((link, seen, a, b))
        })
        .collect();

    let mut labels = Vec::new();
    for (place, (link, seen, a, b)) in shown.iter().enumerate() {
        let is_same_pair = |other: &LinkRow| other.a == link.a && other.b == link.b;
        let lanes = shown.iter().filter(|other| is_same_pair(other.0)).count();
        let lane = shown[..place].iter().filter(|other| is_same_pair(other.0)).count();
        let bow = (lane as f64 - (lanes as f64 - 1.0) / 2.0) * LANE;
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = dx.hypot(dy).max(1.0);
        // The control point of a quadratic curve lies twice as far out as its middle.
        let control = (
            f64::midpoint(a.x, b.x) - dy / length * bow * 2.0,
            f64::midpoint(a.y, b.y) + dx / length * bow * 2.0,
        );
        let path = format!("M{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}", a.x, a.y, control.0, control.1, b.x, b.y);
        match seen {
            SeenWord::Plain => svg.put(format_args!("<path d=\"{path}\" class=\"link plain\"/>")),
            SeenWord::Sealed => {
                svg.put(format_args!(
                    "<path d=\"{path}\" class=\"link sealed\"/><path d=\"{path}\" class=\"link core\"/>"
                ));
            }
            SeenWord::Unknown => svg.put(format_args!("<path d=\"{path}\" class=\"link unknown\"/>")),
        }
        let (words, width) = match seen {
            SeenWord::Plain => (format!("{}: cleartext", link.kind), 0.0),
            SeenWord::Sealed => (link.kind.to_string(), 14.0),
            SeenWord::Unknown => (format!("{} ?", link.kind), 0.0),
        };
        let width = 12.0 + width + words.chars().count() as f64 * 5.9;
        let at = free_place(&taken, (a, b), control, width);
        taken.push((at.0, at.1, width, LABEL_HEIGHT));
        labels.push((*seen, words, width, at));
    }
    for (seen, words, width, (x, y)) in labels {
        label(&mut svg, seen, &words, width, (x, y));
    }
    for end in &ends {
        node(&mut svg, end);
    }

    let about: Vec<String> = shown
        .iter()
        .map(|(link, seen, ..)| format!("{} {} to {}: {seen}", link.kind, link.a, link.b))
        .collect();
    let title = match when {
        When::Before => "Links before",
        When::After => "Links after",
    };
    svg.close((WIDTH, height), "topology", title, &about.join("; "))
}

/// The most links that one pair has.
fn lanes_max(report: &DemoReport) -> usize {
    let links = &report.summary.links;
    links
        .iter()
        .map(|link| links.iter().filter(|other| other.a == link.a && other.b == link.b).count())
        .max()
        .unwrap_or(0)
}

/// The same places in both pictures: all nodes and clients of either look, clients at the bottom.
fn ends(report: &DemoReport, when: When) -> Vec<End> {
    let (now, other) = match when {
        When::Before => (&report.status_before, &report.status_after),
        When::After => (&report.status_after, &report.status_before),
    };
    let mut nodes: Vec<&NodeStatus> = Vec::new();
    for node in report.status_before.iter().chain(&report.status_after) {
        if !nodes.iter().any(|known| known.node == node.node) {
            nodes.push(node);
        }
    }
    let mut clients: Vec<&str> = Vec::new();
    for name in report.summary.links.iter().flat_map(|link| [link.a.as_str(), link.b.as_str()]) {
        if !nodes.iter().any(|node| node.node == name) && !clients.contains(&name) {
            clients.push(name);
        }
    }
    let named = nodes
        .iter()
        .map(|node| {
            let is_there = now.iter().any(|known| known.node == node.node)
                // A look without any status says nothing about who was there.
                || (now.is_empty() && other.iter().any(|known| known.node == node.node));
            (node.node.clone(), Some(node.address.clone()), is_there)
        })
        .chain(clients.iter().map(|name| ((*name).to_owned(), None, true)));
    let count = (nodes.len() + clients.len()).clamp(1, ENDS_MAX);
    let clients_turn = (clients.len().max(1) as f64 - 1.0) / 2.0;
    named
        .take(ENDS_MAX)
        .enumerate()
        .map(|(place, (name, address, is_there))| {
            let first = nodes.len() as f64 + clients_turn;
            let angle = PI / 2.0 + (place as f64 - first) * 2.0 * PI / count as f64;
            let (x, y) = (WIDTH / 2.0 + RADIUS * 1.06 * angle.cos(), HEIGHT / 2.0 + RADIUS * angle.sin());
            End { name, address, is_there, x, y }
        })
        .collect()
}

/// Where on the curve the label hides nothing, or the least.
fn free_place(taken: &[Taken], (a, b): (&End, &End), control: (f64, f64), width: f64) -> (f64, f64) {
    const TRIES: [f64; 15] =
        [0.5, 0.44, 0.56, 0.39, 0.61, 0.34, 0.66, 0.3, 0.7, 0.26, 0.74, 0.22, 0.78, 0.18, 0.82];
    let on_curve = |t: f64| {
        let mix =
            |from: f64, by: f64, to: f64| (1.0 - t).powi(2) * from + 2.0 * t * (1.0 - t) * by + t * t * to;
        (mix(a.x, control.0, b.x), mix(a.y, control.1, b.y))
    };
    let hidden = |(x, y): (f64, f64)| -> f64 {
        taken
            .iter()
            .map(|(other_x, other_y, other_width, other_height)| {
                let wide = (f64::midpoint(width, *other_width) + 4.0 - (x - other_x).abs()).max(0.0);
                let high = (f64::midpoint(LABEL_HEIGHT, *other_height) + 3.0 - (y - other_y).abs()).max(0.0);
                wide * high
            })
            .sum()
    };
    TRIES
        .into_iter()
        .map(on_curve)
        .min_by(|one, other| hidden(*one).total_cmp(&hidden(*other)))
        .unwrap_or((control.0, control.1))
}

fn label(svg: &mut Svg, seen: SeenWord, words: &str, width: f64, (x, y): (f64, f64)) {
    let (left, top) = (x - width / 2.0, y - LABEL_HEIGHT / 2.0);
    svg.put(format_args!(
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{LABEL_HEIGHT}\" rx=\"4\" class=\"label {seen}\"/>"
    ));
    let shift = if seen == SeenWord::Sealed {
        svg.put(format_args!(
            "<g class=\"lock\" transform=\"translate({:.1} {:.1})\"><path d=\"M2 5V3.4a2.5 2.5 0 0 1 5 0V5\"/><rect x=\"0.5\" y=\"5\" width=\"8\" height=\"6\" rx=\"1\"/></g>",
            left + 7.0,
            y - 6.0
        ));
        7.0
    } else {
        0.0
    };
    svg.text((x + shift, y + 4.0), &format!("words {seen}"), "middle", words);
}

fn node(svg: &mut Svg, end: &End) {
    let (left, top) = (end.x - BOX.0 / 2.0, end.y - BOX.1 / 2.0);
    let (class, round) = match (&end.address, end.is_there) {
        (None, _) => ("end client", BOX.1 / 2.0),
        (Some(_), true) => ("end", 5.0),
        (Some(_), false) => ("end absent", 5.0),
    };
    svg.put(format_args!(
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{}\" height=\"{}\" rx=\"{round}\" class=\"{class}\"/>",
        BOX.0, BOX.1
    ));
    let under = match (&end.address, end.is_there) {
        (None, _) => None,
        (Some(address), true) => Some(address.as_str()),
        (Some(_), false) => Some("joins later"),
    };
    let name_y = if under.is_some() { end.y - 3.0 } else { end.y + 5.0 };
    svg.text(
        (end.x, name_y),
        if end.is_there { "name" } else { "name absent" },
        "middle",
        &short(&end.name, 13),
    );
    if let Some(under) = under {
        svg.text((end.x, end.y + 13.0), "address", "middle", &short(under, 15));
    }
}

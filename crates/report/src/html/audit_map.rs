//! One server in the middle, the paths of data in transit on its left and those at rest on its right, each with its one word. As in the
//! drawing of links no colour is needed to tell them apart.

use crate::shape::{AuditServerRow, PathRow};

use super::svg::{Svg, short};

const WIDTH: f64 = 760.0;
const ROW: f64 = 32.0;
const END: (f64, f64) = (206.0, 24.0);
const SERVER_WIDTH: f64 = 120.0;
const LABEL_HEIGHT: f64 = 18.0;
const MARGIN: f64 = 4.0;
/// Of a letter in a label.
const LETTER: f64 = 5.9;

/// Paths that the server does not have are not drawn.
pub fn draw(server: &AuditServerRow, paths: &[&PathRow]) -> String {
    let of = |kind: &str| -> Vec<&PathRow> {
        paths.iter().filter(|path| path.kind == kind && path.stand != "none").copied().collect()
    };
    let (transit, rest) = (of("in-transit"), of("at-rest"));
    let height = transit.len().max(rest.len()).max(2) as f64 * ROW + 2.0 * MARGIN;
    let middle = WIDTH / 2.0;
    let mut svg = Svg::default();
    let mut put = |all: &[&PathRow], is_left: bool| {
        let top = (height - all.len() as f64 * ROW) / 2.0;
        for (place, path) in all.iter().enumerate() {
            let y = top + (place as f64 + 0.5) * ROW;
            let (end, side) = if is_left {
                (MARGIN + END.0, middle - SERVER_WIDTH / 2.0)
            } else {
                (WIDTH - MARGIN - END.0, middle + SERVER_WIDTH / 2.0)
            };
            let (class, words) = match path.stand.as_str() {
                "clear" => ("plain", "cleartext"),
                "configured-only" => ("configured", "configured only"),
                _ => ("unknown", "?"),
            };
            svg.line((end, y), (side, y), &format!("link {class}"));
            let width = 12.0 + words.len() as f64 * LETTER;
            let x = f64::midpoint(end, side);
            svg.put(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{LABEL_HEIGHT}\" rx=\"4\" class=\"label {class}\"/>",
                x - width / 2.0,
                y - LABEL_HEIGHT / 2.0
            ));
            svg.text((x, y + 4.0), &format!("words {class}"), "middle", words);
            let left = if is_left { MARGIN } else { WIDTH - MARGIN - END.0 };
            svg.put(format_args!(
                "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"{}\" class=\"end client\"/>",
                y - END.1 / 2.0,
                END.0,
                END.1,
                if is_left { END.1 / 2.0 } else { 3.0 }
            ));
            svg.text((left + END.0 / 2.0, y + 4.0), "path", "middle", &short(&path.path, 34));
        }
    };
    put(&transit, true);
    put(&rest, false);
    svg.put(format_args!(
        "<rect x=\"{:.1}\" y=\"{MARGIN}\" width=\"{SERVER_WIDTH}\" height=\"{:.1}\" rx=\"6\" class=\"end\"/>",
        middle - SERVER_WIDTH / 2.0,
        height - 2.0 * MARGIN
    ));
    svg.text((middle, height / 2.0 - 3.0), "name", "middle", &short(&server.name, 15));
    let version = match (&server.flavour, &server.version) {
        (Some(flavour), Some(version)) => {
            format!("{flavour} {}", version.split(['-', '+']).next().unwrap_or_default())
        }
        _ => "not audited".into(),
    };
    svg.text((middle, height / 2.0 + 13.0), "address", "middle", &short(&version, 19));
    let about: Vec<String> =
        transit.iter().chain(&rest).map(|path| format!("{}: {}", path.path, path.stand)).collect();
    svg.close((WIDTH, height), "map", &format!("Paths of data on {}", server.name), &about.join("; "))
}

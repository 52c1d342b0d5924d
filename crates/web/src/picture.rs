//! The servers of a cluster in a circle, each link drawn and labelled as what was seen on it.
//!
//! Plain is dashed, encrypted a full line, unknown dotted, and each has its word on it: colour tells nothing alone.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt::Write;

use report::shape::{WatchLinkRow, WatchLinkWord, WatchReport, WatchServerWord};

use crate::pages::LINKS_FROM_WORST;
use crate::words::short;

const WIDTH: f64 = 860.0;
const RADIUS: (f64, f64) = (310.0, 190.0);
const BOX: (f64, f64) = (132.0, 44.0);
const MARGIN: f64 = 26.0;
const LABEL_HEIGHT: f64 = 18.0;
/// Between two labels.
const GAP: f64 = 8.0;
/// Of a letter at 12 px.
const LETTER: f64 = 6.7;
/// Between two links of one pair.
const LANE: f64 = 30.0;
/// More do not fit; the tables have them all.
const ENDS_MAX: usize = 14;
/// With more links than this, only what is wrong has its whole words; the others have a letter.
const WORDS_MAX: usize = 14;
const NAME_MAX: usize = 14;
/// Where on its link a label may be, the best first.
const PLACES: [f64; 9] = [0.5, 0.4, 0.6, 0.32, 0.68, 0.45, 0.55, 0.25, 0.75];

pub struct Drawn {
    pub svg: String,
    /// Links that are only in the table.
    pub undrawn: usize,
    /// Links have letters.
    pub is_dense: bool,
}

struct End<'r> {
    name: &'r str,
    note: &'r str,
    /// `None`: it is no server that is watched.
    state: Option<WatchServerWord>,
    x: f64,
    y: f64,
}

/// A rectangle: middle and size.
type Taken = (f64, f64, f64, f64);

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in SVG; a name with them would break the picture.
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

fn ends(report: &WatchReport) -> Vec<End<'_>> {
    let mut ends: Vec<End<'_>> = report
        .servers
        .iter()
        .map(|server| End {
            name: &server.server,
            note: &server.address,
            state: Some(server.state),
            x: 0.0,
            y: 0.0,
        })
        .collect();
    for name in report.links.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]) {
        if !ends.iter().any(|end| end.name == name) {
            ends.push(End { name, note: "not watched", state: None, x: 0.0, y: 0.0 });
        }
    }
    ends.truncate(ENDS_MAX);
    let count = ends.len().max(1) as f64;
    for (at, end) in ends.iter_mut().enumerate() {
        let angle = 2.0 * PI * at as f64 / count - PI / 2.0;
        end.x = WIDTH / 2.0 + RADIUS.0 * angle.cos();
        end.y = RADIUS.1 * angle.sin();
    }
    // An odd number leaves the bottom of the circle empty.
    let top = ends.iter().map(|end| end.y).fold(0.0, f64::min) - BOX.1 / 2.0 - MARGIN;
    for end in &mut ends {
        end.y -= top;
    }
    ends
}

/// For what is not wrong.
const fn letter(state: WatchLinkWord) -> Option<&'static str> {
    match state {
        WatchLinkWord::Encrypted => Some("E"),
        WatchLinkWord::Verified => Some("V"),
        WatchLinkWord::Unknown => Some("?"),
        WatchLinkWord::Plain | WatchLinkWord::Broken => None,
    }
}

fn overlap(a: &Taken, b: &Taken) -> f64 {
    let along = |p: f64, q: f64, size: f64| (size - (p - q).abs()).max(0.0);
    along(a.0, b.0, f64::midpoint(a.2, b.2)) * along(a.1, b.1, f64::midpoint(a.3, b.3))
}

pub fn draw(report: &WatchReport) -> Drawn {
    let ends = ends(report);
    let find = |name: &str| ends.iter().find(|end| end.name == name);
    let mut shown: Vec<(&WatchLinkRow, &End<'_>, &End<'_>)> = report
        .links
        .iter()
        .filter_map(|link| Some((link, find(&link.from)?, find(&link.to)?)))
        .filter(|(_, a, b)| a.name != b.name)
        .collect();
    // What is wrong has the first choice of a place.
    shown.sort_by_key(|(link, ..)| LINKS_FROM_WORST.iter().position(|state| *state == link.state));
    let is_dense = shown.len() > WORDS_MAX;
    let height = ends.iter().map(|end| end.y).fold(0.0, f64::max) + BOX.1 / 2.0 + MARGIN;
    let (mut lines, mut labels) = (Vec::new(), String::new());
    let mut taken: Vec<Taken> = ends.iter().map(|end| (end.x, end.y, BOX.0 + 8.0, BOX.1 + 4.0)).collect();
    let pair = |link: &WatchLinkRow| {
        let (a, b) = (link.from.clone(), link.to.clone());
        if a <= b { (a, b) } else { (b, a) }
    };
    let mut sizes: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (link, ..) in &shown {
        *sizes.entry(pair(link)).or_default() += 1;
    }
    let mut used: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (link, a, b) in &shown {
        let pair = pair(link);
        let (size, lane) = (sizes.get(&pair).copied().unwrap_or(1), used.entry(pair).or_default());
        let offset = (*lane as f64 - (size as f64 - 1.0) / 2.0) * LANE;
        *lane += 1;
        // Lanes of a pair are on the same sides, whichever end is named first.
        let (a, b) = if a.name <= b.name { (a, b) } else { (b, a) };
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = dx.hypot(dy).max(1.0);
        // A quadratic curve passes its control point at half the distance.
        let bend = (
            f64::midpoint(a.x, b.x) - dy / length * offset * 2.0,
            f64::midpoint(a.y, b.y) + dx / length * offset * 2.0,
        );
        let at = |t: f64| {
            let of = |a: f64, c: f64, b: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * c + t * t * b;
            (of(a.x, bend.0, b.x), of(a.y, bend.1, b.y))
        };
        let state = link.state.as_str();
        let label = format!("{}: {state}", link.kind.as_str());
        let text = if is_dense { letter(link.state).unwrap_or(&label) } else { &label };
        let width = text.len() as f64 * LETTER + 12.0;
        let spot = |t: &f64| {
            let (x, y) = at(*t);
            let spot: Taken = (x, y, width, LABEL_HEIGHT);
            (taken.iter().map(|one| overlap(one, &spot)).sum::<f64>(), spot)
        };
        let best = PLACES.iter().map(spot).min_by(|p, q| p.0.total_cmp(&q.0));
        let Some((_, spot)) = best else { continue };
        taken.push((spot.0, spot.1, spot.2 + GAP, spot.3 + GAP));
        let title = escape(&format!("{label} ({} and {}): {}", link.from, link.to, link.why));
        lines.push(format!(
            "<path class=\"link {state}\" d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\"><title>{title}</title></path>",
            a.x, a.y, bend.0, bend.1, b.x, b.y
        ));
        // Writing to a String cannot fail.
        let _ = write!(
            labels,
            "<g class=\"label {state}\"><title>{title}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{LABEL_HEIGHT}\" \
             rx=\"3\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            spot.0 - width / 2.0,
            spot.1 - LABEL_HEIGHT / 2.0,
            width,
            spot.0,
            spot.1 + 4.0,
            escape(text)
        );
    }
    // And is drawn over the rest.
    lines.reverse();
    let lines = lines.concat();
    let mut boxes = String::new();
    for end in &ends {
        let state = end.state.map_or("outside", WatchServerWord::as_str);
        let note = match end.state {
            Some(WatchServerWord::Up) | None => end.note,
            Some(state) => state.as_str(),
        };
        let _ = write!(
            boxes,
            "<g class=\"end {state}\"><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text><text class=\"under\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            escape(&format!("{} ({}), {state}", end.name, end.note)),
            end.x - BOX.0 / 2.0,
            end.y - BOX.1 / 2.0,
            BOX.0,
            BOX.1,
            end.x,
            end.y - 3.0,
            escape(&short(end.name, NAME_MAX)),
            end.x,
            end.y + 13.0,
            escape(&short(note, NAME_MAX + 3)),
        );
    }
    let class = if report.summary.is_stale { "net old" } else { "net" };
    let svg = format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"Links between the servers; the table below has \
         the same\">{lines}{boxes}{labels}</svg>"
    );
    Drawn { svg, undrawn: report.links.len() - shown.len(), is_dense }
}

//! The pictures of a run: points with intervals, percentile curves, CPU time stacked, and each trial in its order.
//!
//! Lines go straight from point to point. An axis begins at zero wherever a length is read from it; latencies have
//! logarithmic axes, on which nothing is a length.

use super::marks::Mark;
use super::svg::{Axis, Svg, escape, short};
use crate::figures::{self, real};
use crate::shape::{ArmRow, LevelRow, PublishedFigure, RunReport, SecondRow};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 34.0;
const BASE: f64 = 326.0;
/// Of pictures that stand beside each other.
const HALF: f64 = 500.0;
const HALF_HEIGHT: f64 = 318.0;
const HALF_BASE: f64 = 262.0;
/// Names of arms, left of a bar.
const NAMES: f64 = 216.0;
const ROW: f64 = 38.0;
/// Further to the right than one event of a million nobody looks.
const NINES_MAX: f64 = 6.0;

/// A picture under its own few words.
pub struct Panel {
    pub caption: String,
    pub svg: String,
}

fn published<'a>(report: &'a RunReport, arm: &str, connections: u32) -> Option<&'a PublishedFigure> {
    let mut rows = report.published.iter().flat_map(|table| &table.rows);
    rows.find(|row| row.arm == arm && row.connections == Some(connections))
}

/// Everything that a throughput axis must hold.
fn largest(report: &RunReport) -> f64 {
    let ours = report
        .levels
        .iter()
        .flat_map(|level| &level.arms)
        .filter(|arm| !arm.trials.is_empty())
        .flat_map(|arm| arm.trials.iter().copied().chain(arm.high).chain([arm.mean]));
    let theirs = report.levels.iter().flat_map(|level| {
        level.arms.iter().filter_map(|arm| {
            published(report, &arm.name, level.connections)
                .map(|row| row.per_s + row.deviation.unwrap_or(0.0))
        })
    });
    ours.chain(theirs).filter(|value| value.is_finite()).fold(0.0, f64::max)
}

fn mean_words(arm: &ArmRow, unit: &str) -> String {
    match (arm.low, arm.high) {
        (Some(low), Some(high)) => {
            format!("{}: {} {unit}, {} to {}", arm.name, real(arm.mean), real(low), real(high))
        }
        _ if arm.trials.is_empty() => format!("{}: not measured", arm.name),
        _ => format!("{}: {} {unit}, too few trials for an interval", arm.name, real(arm.mean)),
    }
}

fn about(report: &RunReport) -> String {
    let words: Vec<String> = report
        .levels
        .iter()
        .flat_map(|level| {
            level.arms.iter().map(move |arm| {
                format!("{}, {}", connected(level.connections), mean_words(arm, &report.unit))
            })
        })
        .collect();
    words.join("; ")
}

fn connected(count: u32) -> String {
    model::text::counted(count, "connection", "connections")
}

/// Throughput by connections, or by arm where there is one number of connections.
pub fn throughput(report: &RunReport) -> String {
    match report.levels.as_slice() {
        [] => String::new(),
        [level] => by_arm(report, level),
        _ => by_level(report),
    }
}

fn by_level(report: &RunReport) -> String {
    let axis = Axis::to(largest(report), 5.0);
    let y = |value: f64| BASE - axis.place(value) * (BASE - TOP);
    let band = (WIDTH - LEFT - RIGHT) / report.levels.len() as f64;
    let middle = |place: usize| LEFT + (place as f64 + 0.5) * band;
    let mut svg = Svg::default();
    vertical_grid(&mut svg, &axis, &y, (LEFT, WIDTH - RIGHT), &report.unit);
    for (place, level) in report.levels.iter().enumerate() {
        svg.text((middle(place), BASE + 18.0), "tick strong", "middle", &level.connections.to_string());
    }
    svg.text((WIDTH - RIGHT, BASE + 38.0), "tick", "end", "concurrent connections");
    let arms = report.levels.first().map_or(0, |level| level.arms.len());
    let step = (band * 0.62 / arms.max(1) as f64).min(20.0);
    for arm in 0..arms {
        let mark = Mark::of(arm);
        let shift = (arm as f64 - (arms as f64 - 1.0) / 2.0) * step;
        let rows: Vec<(f64, &LevelRow, &ArmRow)> = report
            .levels
            .iter()
            .enumerate()
            .filter_map(|(place, level)| Some((middle(place) + shift, level, level.arms.get(arm)?)))
            .filter(|(_, _, arm)| !arm.trials.is_empty())
            .collect();
        let line: Vec<(f64, f64)> = rows.iter().map(|(x, _, arm)| (*x, y(arm.mean))).collect();
        mark.line(&mut svg, &line, "run");
        for (x, level, row) in rows {
            for trial in &row.trials {
                dot(&mut svg, (x - 6.5, y(*trial)), mark);
            }
            if let (Some(low), Some(high)) = (row.low, row.high) {
                whisker(&mut svg, mark, (x, y(low)), (x, y(high)));
            }
            let title = format!("{}, {}", connected(level.connections), mean_words(row, &report.unit));
            mark.put(&mut svg, (x, y(row.mean)), 5.2, false, &title);
            if let Some(theirs) = published(report, &row.name, level.connections) {
                let x = x + (step * 0.5).clamp(7.0, 10.0);
                let sd = theirs.deviation.unwrap_or(0.0);
                svg.line(
                    (x, y(theirs.per_s - sd)),
                    (x, y(theirs.per_s + sd)),
                    &format!("sd m{}", mark.colour),
                );
                let title = format!(
                    "published: {}, {}: {}",
                    connected(level.connections),
                    row.name,
                    real(theirs.per_s)
                );
                mark.put(&mut svg, (x, y(theirs.per_s)), 4.8, true, &title);
            }
        }
    }
    svg.close((WIDTH, HEIGHT), "chart", "Throughput by connections", &about(report))
}

fn by_arm(report: &RunReport, level: &LevelRow) -> String {
    let axis = Axis::to(largest(report), 6.0);
    let x = |value: f64| NAMES + axis.place(value) * (WIDTH - NAMES - RIGHT);
    let base = TOP + level.arms.len() as f64 * ROW;
    let mut svg = Svg::default();
    horizontal_grid(&mut svg, &axis, &x, (TOP - 8.0, base), &report.unit);
    for (place, arm) in level.arms.iter().enumerate() {
        let (mark, y) = (Mark::of(place), TOP + (place as f64 + 0.5) * ROW);
        svg.text((NAMES - 14.0, y + 4.0), "tick strong", "end", &short(&arm.name, 30));
        if arm.trials.is_empty() {
            svg.text((NAMES + 8.0, y + 4.0), "tick", "start", "no complete trial");
            continue;
        }
        for trial in &arm.trials {
            dot(&mut svg, (x(*trial), y - 9.5), mark);
        }
        if let (Some(low), Some(high)) = (arm.low, arm.high) {
            whisker(&mut svg, mark, (x(low), y), (x(high), y));
        }
        mark.put(&mut svg, (x(arm.mean), y), 5.6, false, &mean_words(arm, &report.unit));
        if let Some(theirs) = published(report, &arm.name, level.connections) {
            let (y, sd) = (y + 11.0, theirs.deviation.unwrap_or(0.0));
            svg.line((x(theirs.per_s - sd), y), (x(theirs.per_s + sd), y), &format!("sd m{}", mark.colour));
            let title = format!("published: {}: {}", arm.name, real(theirs.per_s));
            mark.put(&mut svg, (x(theirs.per_s), y), 4.8, true, &title);
        }
    }
    svg.close((WIDTH, base + 44.0), "chart", "Throughput", &about(report))
}

fn vertical_grid(svg: &mut Svg, axis: &Axis, y: &dyn Fn(f64) -> f64, (left, right): (f64, f64), unit: &str) {
    svg.text((left - 8.0, y(axis.end) - 14.0), "tick strong", "start", unit);
    for tick in axis.ticks() {
        svg.line((left, y(tick)), (right, y(tick)), if tick == 0.0 { "axis" } else { "grid" });
        svg.text((left - 10.0, y(tick) + 4.0), "tick", "end", &figures::short(tick));
    }
}

fn horizontal_grid(svg: &mut Svg, axis: &Axis, x: &dyn Fn(f64) -> f64, (top, base): (f64, f64), unit: &str) {
    for tick in axis.ticks() {
        svg.line((x(tick), top), (x(tick), base), if tick == 0.0 { "axis" } else { "grid" });
        svg.text((x(tick), base + 17.0), "tick", "middle", &figures::short(tick));
    }
    svg.text((x(axis.end), base + 36.0), "tick", "end", unit);
}

/// One trial, beside the mark of its mean.
fn dot(svg: &mut Svg, (x, y): (f64, f64), mark: Mark) {
    svg.put(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" class=\"trial m{}\"/>", mark.colour));
}

/// An interval with its two ends.
fn whisker(svg: &mut Svg, mark: Mark, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let class = format!("whisker m{}", mark.colour);
    svg.line((x1, y1), (x2, y2), &class);
    let is_upright = (x1 - x2).abs() < 0.01;
    for (x, y) in [(x1, y1), (x2, y2)] {
        let (dx, dy) = if is_upright { (4.0, 0.0) } else { (0.0, 4.0) };
        svg.line((x - dx, y - dy), (x + dx, y + dy), &class);
    }
}

/// Decades of "one event of so many": 0 is the median's half, 2 is 99 %.
fn nines(share: f64, events: u64) -> f64 {
    // The slowest of a thousand stands where 99.9 % do.
    let left = (1.0 - share).max(1.0 / events.max(1) as f64);
    (-left.log10()).clamp(0.0, NINES_MAX)
}

/// A logarithmic axis between round numbers.
struct LogAxis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl LogAxis {
    /// `None`: nothing over zero is to be shown.
    fn holding(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            return None;
        }
        // A latency of a nanosecond or of a year is less than twenty decades from a millisecond.
        #[allow(clippy::cast_possible_truncation)]
        let decades = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
        let factors: &[f64] = if most / least > 3_000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all: Vec<f64> = decades
            .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)))
            .collect();
        let low = all.iter().copied().rev().find(|tick| *tick <= least).unwrap_or(least);
        let mut high = all.iter().copied().find(|tick| *tick >= most).unwrap_or(most);
        if high <= low {
            high = low * 10.0;
        }
        let ticks = all.into_iter().filter(|tick| *tick >= low && *tick <= high).collect();
        Some(Self { low, high, ticks })
    }

    /// 0 to 1.
    fn place(&self, value: f64) -> f64 {
        if !value.is_finite() || value <= 0.0 {
            return 0.0;
        }
        ((value / self.low).log10() / (self.high / self.low).log10()).clamp(0.0, 1.0)
    }
}

fn ms(value: f64) -> String {
    if value >= 0.01 { figures::short(value) } else { format!("{value}") }
}

/// Latency by percentile, a panel a level: both axes logarithmic, so that the slow few are seen.
pub fn latency(report: &RunReport) -> Vec<Panel> {
    report
        .levels
        .iter()
        .filter_map(|level| Some(Panel { caption: connections(level), svg: curve(level)? }))
        .collect()
}

fn connections(level: &LevelRow) -> String {
    format!("{} {}", level.connections, if level.connections == 1 { "connection" } else { "connections" })
}

fn events(arm: &ArmRow) -> u64 {
    arm.samples.iter().map(|trial| trial.events).sum()
}

fn curve(level: &LevelRow) -> Option<String> {
    let arms = || level.arms.iter().filter(|arm| !arm.latency_percentiles.is_empty());
    let axis = LogAxis::holding(arms().flat_map(|arm| arm.latency_percentiles.iter().map(|point| point.ms)))?;
    let nines_end = arms().map(|arm| nines(1.0, events(arm))).fold(2.0, f64::max).ceil();
    let (left, right, top) = (58.0, HALF - 16.0, 30.0);
    let x = |nines: f64| left + nines / nines_end * (right - left);
    let y = |ms: f64| HALF_BASE - axis.place(ms) * (HALF_BASE - top);
    let mut svg = Svg::default();
    svg.text((left - 8.0, top - 12.0), "tick strong", "start", "ms");
    for tick in &axis.ticks {
        svg.line((left, y(*tick)), (right, y(*tick)), "grid");
        svg.text((left - 10.0, y(*tick) + 4.0), "tick", "end", &ms(*tick));
    }
    let words = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"];
    for (decade, word) in words.iter().enumerate().filter(|(decade, _)| *decade as f64 <= nines_end) {
        let at = x(decade as f64);
        svg.line((at, top), (at, HALF_BASE), if decade == 0 { "axis" } else { "grid" });
        let anchor = if decade as f64 >= nines_end { "end" } else { "middle" };
        svg.text((at, HALF_BASE + 17.0), "tick", anchor, word);
    }
    svg.line((left, HALF_BASE), (right, HALF_BASE), "axis");
    svg.text((right, HALF_BASE + 36.0), "tick", "end", "of events took at most this long");
    let mut about = Vec::new();
    for (place, arm) in level.arms.iter().enumerate() {
        let mark = Mark::of(place);
        let points: Vec<(f64, f64)> = arm
            .latency_percentiles
            .iter()
            .map(|point| (x(nines(point.share, events(arm))), y(point.ms)))
            .collect();
        mark.line(&mut svg, &points, "run");
        // Where a reader looks; a line alone has no shape.
        for (share, word) in
            [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %")]
        {
            let found = arm.latency_percentiles.iter().find(|point| point.share >= share);
            if let Some(point) = found.filter(|_| share < 1.0 - 1.0 / events(arm).max(1) as f64) {
                let title = format!("{}: {word} took at most {} ms", arm.name, real(point.ms));
                mark.put(&mut svg, (x(nines(share, events(arm))), y(point.ms)), 4.2, false, &title);
                if matches!(word, "50 %" | "99 %") {
                    about.push(title);
                }
            }
        }
    }
    let title = format!("Latency by percentile, {}", connections(level));
    Some(svg.close((HALF, HALF_HEIGHT), "chart", &title, &about.join("; ")))
}

/// Parts of the CPU time of a query, by how they are filled.
const PARTS: [(&str, &str); 3] =
    [("user", "client, user"), ("system", "client, system"), ("server", "server")];

/// Legend entries of [`cpu`]: a picture and its words.
pub fn cpu_keys() -> Vec<(String, &'static str)> {
    PARTS
        .iter()
        .map(|(class, words)| {
            let mut svg = Svg::default();
            patterns(&mut svg);
            svg.put(format_args!("<rect x=\"1\" y=\"2\" width=\"32\" height=\"12\" class=\"cpu {class}\"/>"));
            (svg.hidden((34.0, 16.0)), *words)
        })
        .collect()
}

/// Ids of a page are one space: the same pattern may be defined twice, it is the same.
fn patterns(svg: &mut Svg) {
    svg.put(format_args!(
        "<defs><pattern id=\"cpu-system\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"ground\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" class=\"stripe\"/></pattern></defs>"
    ));
}

/// CPU time of a query, stacked. `None`: it was never known.
pub fn cpu(report: &RunReport) -> Option<String> {
    let rows: Vec<(&LevelRow, &ArmRow)> = report
        .levels
        .iter()
        .flat_map(|level| level.arms.iter().map(move |arm| (level, arm)))
        .filter(|(_, arm)| !arm.trials.is_empty())
        .collect();
    let sums = rows.iter().map(|(_, arm)| parts(arm).iter().flatten().sum::<f64>());
    let most = sums.filter(|sum| sum.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let axis = Axis::to(most * 1.08, 6.0);
    let x = |value: f64| NAMES + axis.place(value) * (WIDTH - NAMES - RIGHT);
    let (row_height, bar, gap) = (25.0, 15.0, 9.0);
    let is_one_level = report.levels.len() == 1;
    let mut svg = Svg::default();
    patterns(&mut svg);
    let mut tops = Vec::new();
    let mut top = 12.0;
    for (place, (level, _)) in rows.iter().enumerate() {
        let is_new = place > 0
            && rows.get(place - 1).is_some_and(|(before, _)| before.connections != level.connections);
        top += if is_new { gap } else { 0.0 };
        tops.push(top);
        top += row_height;
    }
    let unit = "microseconds of CPU time per query";
    horizontal_grid(&mut svg, &axis, &x, (6.0, top + 2.0), unit);
    let mut about = Vec::new();
    for ((level, arm), top) in rows.iter().zip(tops) {
        let name = if is_one_level {
            short(&arm.name, 30)
        } else {
            format!("{} · {}", short(&arm.name, 24), level.connections)
        };
        svg.text((NAMES - 14.0, top + bar / 2.0 + 6.0), "tick strong", "end", &name);
        let (mut sum, mut words) = (0.0, Vec::new());
        for (part, (class, name)) in parts(arm).into_iter().zip(PARTS) {
            let Some(value) = part else {
                words.push(format!("{name} not known"));
                continue;
            };
            let title = format!("{name}: {} us", real(value));
            svg.put(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{bar}\" class=\"cpu {class}\"><title>{}</title></rect>",
                x(sum),
                top + 2.0,
                x(sum + value) - x(sum),
                escape(&title)
            ));
            words.push(title);
            sum += value;
        }
        let is_whole = parts(arm).iter().all(Option::is_some);
        let end = if is_whole { real(sum) } else { format!("{}, server not known", real(sum)) };
        let (at, anchor) =
            if axis.place(sum) > 0.8 { (x(sum) - 6.0, "end") } else { (x(sum) + 7.0, "start") };
        svg.text((at, top + bar / 2.0 + 6.0), "tick strong halo", anchor, &end);
        about.push(format!("{}, {}: {}", connected(level.connections), arm.name, words.join(", ")));
    }
    Some(svg.close((WIDTH, top + 48.0), "chart", "CPU time", &about.join("; ")))
}

fn parts(arm: &ArmRow) -> [Option<f64>; 3] {
    [arm.client_user_cpu_us_per_query, arm.client_system_cpu_us_per_query, arm.server_cpu_us_per_query]
        .map(|value| value.filter(|value| value.is_finite() && *value >= 0.0))
}

/// Throughput and p95 together, a point for each number of connections. `None` of one number.
pub fn knee(report: &RunReport) -> Option<String> {
    if report.levels.len() < 2 {
        return None;
    }
    let arms = || report.levels.iter().flat_map(|level| &level.arms).filter(|arm| !arm.trials.is_empty());
    let across =
        Axis::to(arms().map(|arm| arm.mean).filter(|mean| mean.is_finite()).fold(0.0, f64::max), 6.0);
    let up = Axis::to(arms().filter_map(|arm| arm.p95_ms).fold(0.0, f64::max), 5.0);
    let x = |value: f64| LEFT + across.place(value) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| BASE - up.place(value) * (BASE - TOP);
    let mut svg = Svg::default();
    vertical_grid(&mut svg, &up, &y, (LEFT, WIDTH - RIGHT), "p95 of an event, ms");
    horizontal_grid(&mut svg, &across, &x, (TOP, BASE), &report.unit);
    let count = report.levels.first().map_or(0, |level| level.arms.len());
    let mut about = Vec::new();
    for place in 0..count {
        let mark = Mark::of(place);
        let rows: Vec<(&LevelRow, f64, f64)> = report
            .levels
            .iter()
            .filter_map(|level| {
                let arm = level.arms.get(place).filter(|arm| !arm.trials.is_empty())?;
                Some((level, arm.mean, arm.p95_ms?))
            })
            .collect();
        let points: Vec<(f64, f64)> = rows.iter().map(|(_, mean, p95)| (x(*mean), y(*p95))).collect();
        mark.line(&mut svg, &points, "run");
        for ((level, mean, p95), at) in rows.iter().zip(points) {
            let name = level.arms.get(place).map(|arm| arm.name.as_str()).unwrap_or_default();
            let title = format!(
                "{name}, {}: {} {}, p95 {} ms",
                connected(level.connections),
                real(*mean),
                report.unit,
                real(*p95)
            );
            mark.put(&mut svg, at, 5.0, false, &title);
            svg.text((at.0 - 8.0, at.1 - 8.0), "tick halo", "end", &level.connections.to_string());
            about.push(title);
        }
    }
    Some(svg.close((WIDTH, HEIGHT), "chart", "Throughput and latency together", &about.join("; ")))
}

/// A figure of a second, where it is known.
type OfSecond = fn(&SecondRow) -> Option<f64>;

/// Throughput, the servers' CPU time and what passed in the lab's network, second by second: the mean of an arm's trials.
pub fn over_time(report: &RunReport) -> Vec<Panel> {
    let panels: [(&str, &str, OfSecond); 3] = [
        ("throughput", "queries/s", |second| Some(second.queries_per_s)),
        ("CPU time of the servers", "processors", |second| second.server_cpu_s_per_s),
        ("network", "MB/s", |second| second.network_bytes_per_s.map(|bytes| bytes / 1e6)),
    ];
    let of = |level: &LevelRow| {
        panels.map(|(what, unit, of)| {
            let svg = seconds(level, what, unit, of)?;
            Some(Panel { caption: format!("{what}, {}", connections(level)), svg })
        })
    };
    report.levels.iter().flat_map(of).flatten().collect()
}

/// The mean over trials of each second that all of them have; its end is the mean of theirs.
fn means(arm: &ArmRow, of: OfSecond) -> Vec<(f64, f64)> {
    let all = arm.samples.iter().map(|trial| trial.seconds.len()).min().unwrap_or(0);
    let mean = |at: usize, of: &dyn Fn(&SecondRow) -> Option<f64>| {
        let values = arm.samples.iter().map(|trial| trial.seconds.get(at).and_then(of));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    (0..all).filter_map(|at| Some((mean(at, &|second| Some(second.at_s))?, mean(at, &of)?))).collect()
}

/// `None`: no arm has two seconds that are known.
fn seconds(level: &LevelRow, what: &str, unit: &str, of: OfSecond) -> Option<String> {
    let arms: Vec<Vec<(f64, f64)>> = level.arms.iter().map(|arm| means(arm, of)).collect();
    if arms.iter().all(|points| points.len() < 2) {
        return None;
    }
    let all = || arms.iter().flatten();
    let across = Axis::to(all().map(|(at, _)| *at).fold(0.0, f64::max), 6.0);
    let up = Axis::to(all().map(|(_, value)| *value).fold(0.0, f64::max), 5.0);
    let (left, right, top) = (58.0, HALF - 16.0, 30.0);
    let x = |at: f64| left + across.place(at) * (right - left);
    let y = |value: f64| HALF_BASE - up.place(value) * (HALF_BASE - top);
    let mut svg = Svg::default();
    vertical_grid(&mut svg, &up, &y, (left, right), unit);
    horizontal_grid(&mut svg, &across, &x, (top, HALF_BASE), "seconds since the measurement began");
    for (place, (arm, points)) in level.arms.iter().zip(&arms).enumerate() {
        let mark = Mark::of(place);
        let line: Vec<(f64, f64)> = points.iter().map(|(at, value)| (x(*at), y(*value))).collect();
        mark.line(&mut svg, &line, "run");
        for ((at, value), place) in points.iter().zip(line) {
            mark.put(
                &mut svg,
                place,
                3.4,
                false,
                &format!("{}, {at:.0} s: {} {unit}", arm.name, real(*value)),
            );
        }
    }
    let title = format!("{what} over time, {}", connections(level));
    Some(svg.close((HALF, HALF_HEIGHT), "chart", &title, "the mean of all trials of an arm, per second"))
}

/// Each trial by the mean of its arm, in the order of blocks: what drifts is seen.
pub fn order(report: &RunReport) -> Vec<Panel> {
    let whole = report.levels.iter().filter(|level| level.blocks > 1);
    whole.map(|level| Panel { caption: connections(level), svg: blocks(level) }).collect()
}

fn blocks(level: &LevelRow) -> String {
    let share =
        |arm: &ArmRow, trial: f64| if arm.mean > 0.0 { (trial / arm.mean - 1.0) * 100.0 } else { 0.0 };
    let all = level.arms.iter().flat_map(|arm| arm.trials.iter().map(move |trial| share(arm, *trial).abs()));
    // Less than two percent either way would be a picture of noise.
    let axis = Axis::to(all.filter(|value| value.is_finite()).fold(2.0, f64::max), 2.0);
    let (left, right, top) = (58.0, HALF - 16.0, 30.0);
    let zero = f64::midpoint(top, HALF_BASE);
    let y = |percent: f64| zero - (percent / axis.end).clamp(-1.0, 1.0) * (zero - top);
    let count = level.arms.iter().map(|arm| arm.trials.len()).max().unwrap_or(1).max(1);
    let x = |block: usize| left + (block as f64 + 0.5) / count as f64 * (right - left);
    let mut svg = Svg::default();
    svg.text((left - 8.0, top - 12.0), "tick strong", "start", "% difference from the mean of its arm");
    for tick in axis.ticks() {
        for tick in if tick > 0.0 { vec![tick, -tick] } else { vec![0.0] } {
            svg.line((left, y(tick)), (right, y(tick)), if tick == 0.0 { "axis" } else { "grid" });
            let sign = if tick > 0.0 { "+" } else { "" };
            svg.text((left - 10.0, y(tick) + 4.0), "tick", "end", &format!("{sign}{}", figures::short(tick)));
        }
    }
    let every = count.div_ceil(12);
    for block in (0..count).filter(|block| block.is_multiple_of(every)) {
        svg.text((x(block), HALF_BASE + 17.0), "tick", "middle", &(block + 1).to_string());
    }
    svg.text((right, HALF_BASE + 36.0), "tick", "end", "block, in time order");
    let arms = level.arms.len().max(1) as f64;
    let step = ((right - left) / count as f64 * 0.6 / arms).min(9.0);
    for (place, arm) in level.arms.iter().enumerate() {
        let mark = Mark::of(place);
        let shift = (place as f64 - (arms - 1.0) / 2.0) * step;
        for (block, trial) in arm.trials.iter().enumerate() {
            let title = format!("{}, block {}: {}", arm.name, block + 1, real(*trial));
            mark.put(&mut svg, (x(block) + shift, y(share(arm, *trial))), 3.4, false, &title);
        }
    }
    let title = format!("Each trial, {}", connections(level));
    svg.close((HALF, HALF_HEIGHT), "chart", &title, "difference of each trial from the mean of its arm")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> RunReport {
        serde_json::from_str(include_str!("../../testdata/bench-run.json")).expect("a sample")
    }

    /// Levels of these connections; the arms have these means, and an interval of a tenth either way.
    fn of(levels: &[u32], means: &[f64]) -> RunReport {
        let mut report = sample();
        report.published = None;
        let model = report.levels[0].arms[0].clone();
        report.levels = levels
            .iter()
            .map(|connections| LevelRow {
                connections: *connections,
                blocks: 5,
                comparisons: vec![],
                arms: means
                    .iter()
                    .enumerate()
                    .map(|(place, mean)| ArmRow {
                        name: format!("arm {place}"),
                        mean: *mean,
                        trials: vec![*mean; 5],
                        low: Some(mean * 0.9),
                        high: Some(mean * 1.1),
                        ..model.clone()
                    })
                    .collect(),
            })
            .collect();
        report
    }

    /// All values of an attribute, as numbers.
    fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
        let key = format!(" {attribute}=\"");
        svg.split(&key).skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
    }

    /// Where each circle-shaped mark has its middle.
    fn circles(svg: &str, radius: f64) -> Vec<(f64, f64)> {
        svg.split("<path d=\"M")
            .skip(1)
            .filter_map(|rest| {
                let (corner, arc) = rest.split_once(" a")?;
                let (x, y) = corner.split_once(' ')?;
                arc.starts_with(&format!("{radius:.1} "))
                    .then_some((x.parse::<f64>().ok()? + radius, y.parse().ok()?))
            })
            .collect()
    }

    #[test]
    fn a_mark_stands_where_its_number_is() {
        // The axis ends at 1000: 500 is half of its height, and the first of two bands has its middle at a quarter.
        let svg = throughput(&of(&[1, 8], &[500.0, 900.0]));
        let (left, width) = (LEFT, WIDTH - LEFT - RIGHT);
        let found = circles(&svg, 5.2);
        assert_eq!(found.len(), 2, "{svg}");
        for ((x, y), band) in found.iter().zip([0.25, 0.75]) {
            assert!((y - f64::midpoint(TOP, BASE)).abs() < 0.11, "{y}");
            // Two arms stand ten to the left and to the right of the middle.
            assert!((x - (left + band * width - 10.0)).abs() < 0.11, "{x}");
        }
        // One level: across, and 900 is nine tenths of the way.
        let svg = throughput(&of(&[4], &[900.0, 100.0]));
        let (x, y) = circles(&svg, 5.6)[0];
        assert!((x - (NAMES + 0.9 * (WIDTH - NAMES - RIGHT))).abs() < 0.11, "{x}");
        assert!((y - (TOP + ROW / 2.0)).abs() < 0.11, "{y}");
    }

    #[test]
    fn an_interval_reaches_from_its_low_to_its_high_end() {
        let svg = throughput(&of(&[1, 8], &[500.0]));
        let y = |value: f64| BASE - value / 600.0 * (BASE - TOP);
        for value in [450.0, 550.0] {
            let ends = format!("y2=\"{:.1}\" class=\"whisker m0\"", y(value));
            assert!(svg.contains(&ends), "{ends} {svg}");
        }
        let mut few = of(&[1, 8], &[500.0]);
        for arm in few.levels.iter_mut().flat_map(|level| &mut level.arms) {
            (arm.low, arm.high) = (None, None);
        }
        assert!(!throughput(&few).contains("whisker"), "an interval was refused");
    }

    #[test]
    fn published_figures_are_hollow_and_on_the_same_axis() {
        let report = sample();
        let svg = throughput(&report);
        assert_eq!(svg.matches("hollow").count(), 2, "{svg}");
        assert!(svg.contains("published: cleartext: 2,702"), "{svg}");
    }

    #[test]
    fn decades_are_equally_far_apart() {
        let axis = LogAxis::holding([0.15, 90.0].into_iter()).expect("values");
        assert_eq!((axis.low, axis.high), (0.1, 100.0));
        for (value, place) in [(0.1, 0.0), (1.0, 1.0 / 3.0), (10.0, 2.0 / 3.0), (100.0, 1.0), (-1.0, 0.0)] {
            assert!((axis.place(value) - place).abs() < 1e-9, "{value}: {}", axis.place(value));
        }
        assert!(LogAxis::holding([0.0, f64::NAN, -1.0].into_iter()).is_none());
        let flat = LogAxis::holding(std::iter::once(2.0)).expect("one");
        assert!(flat.low < flat.high && flat.place(2.0).is_finite());
        for (share, events, expected) in [
            (0.0, 10, 0.0),
            (0.9, 1_000, 1.0),
            (0.99, 1_000, 2.0),
            (1.0, 1_000, 3.0),
            (1.0, u64::MAX, NINES_MAX),
        ] {
            assert!((nines(share, events) - expected).abs() < 1e-9, "{share} of {events}");
        }
        assert!(nines(1.0, 0).is_finite());
    }

    #[test]
    fn parts_of_a_bar_are_as_long_as_their_share_and_what_is_unknown_is_said() {
        let mut report = of(&[1], &[10.0, 20.0]);
        for arm in &mut report.levels[0].arms {
            arm.client_user_cpu_us_per_query = Some(10.0);
            arm.client_system_cpu_us_per_query = Some(20.0);
            arm.server_cpu_us_per_query = Some(60.0);
        }
        report.levels[0].arms[1].server_cpu_us_per_query = None;
        let svg = cpu(&report).expect("costs");
        let bars: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("class=\"cpu "))
            .flat_map(|line| numbers(line, "width"))
            .collect();
        assert_eq!(bars.len(), 5, "{svg}");
        assert!((bars[1] / bars[0] - 2.0).abs() < 0.01 && (bars[2] / bars[0] - 6.0).abs() < 0.01, "{bars:?}");
        assert!(svg.contains("30.0, server not known"), "{svg}");
        for arm in &mut report.levels[0].arms {
            (arm.client_user_cpu_us_per_query, arm.client_system_cpu_us_per_query) = (None, None);
            arm.server_cpu_us_per_query = None;
        }
        assert!(cpu(&report).is_none());
    }

    #[test]
    fn nothing_lies_outside_of_a_picture() {
        let many = of(&[1, 2, 4, 8, 16, 32], &[3.0, 70_000.0, 12_345.0, 900.0]);
        let mut pictures = Vec::new();
        for report in [sample(), many] {
            pictures.push(throughput(&report));
            pictures.extend(cpu(&report));
            pictures.extend(knee(&report));
            pictures.extend(latency(&report).into_iter().map(|panel| panel.svg));
            pictures.extend(order(&report).into_iter().map(|panel| panel.svg));
        }
        assert!(pictures.len() >= 16, "{}", pictures.len());
        for svg in &pictures {
            let size: Vec<f64> = svg
                .split("viewBox=\"0 0 ")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .expect("a size")
                .split(' ')
                .map(|number| number.parse().expect("a number"))
                .collect();
            for (attributes, end) in [(["x", "x1", "x2", "cx"], size[0]), (["y", "y1", "y2", "cy"], size[1])]
            {
                for number in attributes.iter().flat_map(|name| numbers(svg, name)) {
                    assert!((0.0..=end).contains(&number), "{number} of {end}: {svg}");
                }
            }
            for pair in svg.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                for point in pair.split(' ') {
                    let (x, y) = point.split_once(',').expect("two numbers");
                    let inside =
                        |text: &str, end: f64| (0.0..=end).contains(&text.parse().expect("a number"));
                    assert!(inside(x, size[0]) && inside(y, size[1]), "{point}: {svg}");
                }
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        }
    }
}

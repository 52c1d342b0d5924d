//! The roll as it went: a lane per node with steps, drains and restarts; below, acknowledged writes and stalls.

use std::fmt::Write as _;

use crate::figures::{duration, thousands};
use crate::shape::{Roll, StepRow};

use super::svg::{Axis, Svg, escape, short};

const WIDTH: f64 = 980.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 14.0;
const LANE: f64 = 30.0;
const BAR: f64 = 18.0;
const CHART: f64 = 150.0;
const GAP: f64 = 34.0;
/// One point per bucket as long as points can be told apart.
const POINTS_MAX: usize = 200;
/// More lanes are not readable in one picture; the table has all steps.
const LANES_MAX: usize = 16;

pub fn draw(roll: &Roll) -> String {
    let ends = roll.steps.iter().map(|step| step.ended_ms);
    let buckets_end = roll.buckets_ms.saturating_mul(roll.acknowledged_per_bucket.len() as u64);
    let end_ms = ends
        .chain([roll.ended_unix_ms.saturating_sub(roll.started_unix_ms), buckets_end, 1])
        .max()
        .unwrap_or(1);
    let x = |ms: u64| LEFT + (ms as f64 / end_ms as f64).min(1.0) * (WIDTH - LEFT - RIGHT);
    let lanes = lanes(roll);
    let mut svg = Svg::default();
    let top = 8.0;
    let lanes_end = top + lanes.len() as f64 * LANE;
    let chart_top = lanes_end + GAP;
    let base = chart_top + CHART;

    svg.put(format_args!(
        "<defs><pattern id=\"drain\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\" class=\"hatch\"/></pattern></defs>"
    ));
    // So that the eye can follow a restart down to the writes.
    for step in roll.steps.iter().filter(|step| step.restarts_server) {
        svg.line((x(step.started_ms), top), (x(step.started_ms), base), "began");
    }
    for (place, lane) in lanes.iter().enumerate() {
        let middle = top + (place as f64 + 0.5) * LANE;
        svg.line((LEFT, middle), (WIDTH - RIGHT, middle), "lane");
        svg.text((LEFT - 10.0, middle + 4.0), "tick strong", "end", &short(lane.unwrap_or("cluster"), 9));
        for drain in roll.drains.iter().filter(|drain| Some(drain.node.as_str()) == *lane) {
            let title = format!(
                "{} drained for {}",
                drain.node,
                duration(drain.ended_ms.saturating_sub(drain.started_ms))
            );
            bar(
                &mut svg,
                (x(drain.started_ms), x(drain.ended_ms)),
                (middle - BAR / 2.0 - 5.0, 5.0),
                0.0,
                "drain",
                &title,
            );
        }
        for step in roll.steps.iter().filter(|step| step.node.as_deref() == *lane) {
            step_bar(&mut svg, step, (x(step.started_ms), x(step.ended_ms)), middle);
        }
    }
    chart(&mut svg, roll, &x, (chart_top, base));
    let axis = Axis::to(end_ms as f64 / 1000.0, 12.0);
    for tick in axis.ticks().filter(|tick| *tick * 1000.0 <= end_ms as f64) {
        let at = LEFT + tick * 1000.0 / end_ms as f64 * (WIDTH - LEFT - RIGHT);
        svg.line((at, base), (at, base + 4.0), "axis");
        svg.text((at, base + 17.0), "tick", "middle", &format!("{tick:.0}"));
    }
    svg.text((WIDTH - RIGHT, base + 34.0), "tick", "end", "seconds since the first step");
    let about = format!(
        "{} steps, {} restarts, {} stalls of {} or more, {} intervals of {}",
        roll.steps.len(),
        roll.steps.iter().filter(|step| step.restarts_server).count(),
        roll.stalls.len(),
        duration(roll.stall_ms_min),
        roll.acknowledged_per_bucket.len(),
        duration(roll.buckets_ms),
    );
    svg.close((WIDTH, base + 40.0), "timeline", "The rolling restart over time", &about)
}

/// The cluster first, then each node when it first appears.
fn lanes(roll: &Roll) -> Vec<Option<&str>> {
    let mut lanes = vec![None];
    let nodes = roll.steps.iter().filter_map(|step| step.node.as_deref());
    for node in nodes.chain(roll.drains.iter().map(|drain| drain.node.as_str())) {
        if !lanes.contains(&Some(node)) {
            lanes.push(Some(node));
        }
    }
    lanes.truncate(LANES_MAX);
    lanes
}

fn step_bar(svg: &mut Svg, step: &StepRow, (from, to): (f64, f64), middle: f64) {
    let class = match (step.outcome, step.restarts_server) {
        (crate::shape::StepOutcome::Failed, _) => "step failed",
        (crate::shape::StepOutcome::Already, _) => "step already",
        (crate::shape::StepOutcome::Done, true) => "step restart",
        (crate::shape::StepOutcome::Done, false) => "step",
    };
    let took = duration(step.ended_ms.saturating_sub(step.started_ms));
    let title = format!("{} {}: {}, {took}. {}", step.id, step.title, step.outcome, step.note);
    bar(svg, (from, to), (middle - BAR / 2.0, BAR), 2.5, class, &title);
    if to - from > step.id.chars().count() as f64 * 6.6 + 6.0 {
        svg.text((f64::midpoint(from, to), middle + 4.0), &format!("in {class}"), "middle", &step.id);
    }
}

fn bar(
    svg: &mut Svg,
    (from, to): (f64, f64),
    (top, height): (f64, f64),
    round: f64,
    class: &str,
    title: &str,
) {
    // Two units are the least that can be seen; a shorter step is drawn a little too wide.
    let width = (to - from).max(2.0);
    let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
    svg.put(format_args!(
        "<rect x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\" class=\"{class}\">{title}</rect>"
    ));
}

fn chart(svg: &mut Svg, roll: &Roll, x: &dyn Fn(u64) -> f64, (top, base): (f64, f64)) {
    let largest = roll.acknowledged_per_bucket.iter().copied().max().unwrap_or(0);
    let axis = Axis::to(f64::from(largest), 4.0);
    let y = |count: f64| base - axis.place(count) * (base - top);
    let unit = format!("acknowledged writes per {}", duration(roll.buckets_ms));
    svg.text((LEFT, top - 12.0), "tick strong", "start", &unit);
    for tick in axis.ticks() {
        svg.line((LEFT, y(tick)), (WIDTH - RIGHT, y(tick)), if tick == 0.0 { "axis" } else { "grid" });
        svg.text((LEFT - 10.0, y(tick) + 4.0), "tick", "end", &crate::figures::short(tick));
    }
    for stall in &roll.stalls {
        let title = format!("{} stalled {}", stall.node, duration(stall.lasted_ms));
        let (from, to) = (x(stall.started_ms), x(stall.started_ms.saturating_add(stall.lasted_ms)));
        bar(svg, (from, to), (top, base - top), 0.0, "stall", &title);
    }
    let mut steps = String::new();
    for (bucket, count) in roll.acknowledged_per_bucket.iter().enumerate() {
        let from = roll.buckets_ms.saturating_mul(bucket as u64);
        let (from, to) = (x(from), x(from.saturating_add(roll.buckets_ms)));
        let height = y(f64::from(*count));
        let verb = if bucket == 0 { 'M' } else { 'L' };
        let _ = write!(steps, "{verb}{from:.1} {height:.1}L{to:.1} {height:.1}");
        if roll.acknowledged_per_bucket.len() <= POINTS_MAX {
            svg.put(format_args!(
                "<circle cx=\"{:.1}\" cy=\"{height:.1}\" r=\"1.7\" class=\"point\"><title>{}</title></circle>",
                f64::midpoint(from, to),
                thousands(u64::from(*count))
            ));
        }
    }
    if !steps.is_empty() {
        svg.put(format_args!("<path d=\"{steps}\" class=\"steps\"/>"));
    }
    if let Some(longest) = roll.stalls.iter().max_by_key(|stall| stall.lasted_ms) {
        let at = x(longest.started_ms);
        let words = format!("longest stall {}, {}", duration(longest.lasted_ms), short(&longest.node, 12));
        let anchor = if at > WIDTH * 0.75 { "end" } else { "start" };
        let (words_x, mark) = if anchor == "end" { (at - 8.0, at) } else { (at + 8.0, at) };
        svg.text((words_x, base - 10.0), "tick stalled", anchor, &words);
        svg.line((mark, top), (mark, base), "stall-mark");
    }
}

//! Latency of the two blocks: p50, p95 and p99 as points on one interval each, the axis from zero.

use crate::figures::real;
use crate::shape::{Block, Price};

use super::svg::{Axis, Svg};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 22.0;
const BASE: f64 = 136.0;

pub fn draw(price: &Price) -> String {
    let largest = [&price.before, &price.after]
        .into_iter()
        .flat_map(|block| [block.latency_ms_p50, block.latency_ms_p95, block.latency_ms_p99])
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let axis = Axis::to(largest, 6.0);
    let x = |ms: f64| LEFT + axis.place(ms) * (WIDTH - LEFT - RIGHT);
    let mut svg = Svg::default();
    for tick in axis.ticks() {
        svg.line((x(tick), 14.0), (x(tick), BASE), if tick == 0.0 { "axis" } else { "grid" });
        svg.text((x(tick), BASE + 17.0), "tick", "middle", &crate::figures::short(tick));
    }
    svg.text((WIDTH - RIGHT, BASE + 34.0), "tick", "end", "ms per transaction");
    row(&mut svg, &price.before, "before", "plain", 48.0, &x);
    row(&mut svg, &price.after, "after", "sealed", 104.0, &x);
    let words = |block: &Block| {
        format!(
            "{}, {} and {}",
            real(block.latency_ms_p50),
            real(block.latency_ms_p95),
            real(block.latency_ms_p99)
        )
    };
    let about =
        format!("p50, p95 and p99 before {} ms, after {} ms", words(&price.before), words(&price.after));
    svg.close((WIDTH, HEIGHT), "plot", "Latency", &about)
}

fn row(svg: &mut Svg, block: &Block, name: &str, class: &str, y: f64, x: &dyn Fn(f64) -> f64) {
    svg.text((LEFT - 8.0, y + 4.0), "tick strong", "end", name);
    let [p50, p95, p99] = [block.latency_ms_p50, block.latency_ms_p95, block.latency_ms_p99].map(x);
    svg.line((p50, y), (p99, y), &format!("interval {class}"));
    svg.put(format_args!("<circle cx=\"{p50:.1}\" cy=\"{y}\" r=\"5\" class=\"quantile {class}\"/>"));
    svg.put(format_args!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" class=\"quantile {class}\"/>",
        p95 - 4.5,
        y - 4.5
    ));
    svg.put(format_args!("<path d=\"M{p99:.1} {:.1}l6 6-6 6-6-6z\" class=\"quantile {class}\"/>", y - 6.0));
    // Names above a point only where the next one is far enough away; the table has the figures.
    svg.text((p50, y - 11.0), "tick", "middle", "p50");
    if p95 - p50 > 28.0 {
        svg.text((p95, y - 11.0), "tick", "middle", "p95");
    }
    if p99 - p95 > 28.0 {
        svg.text((p99, y - 11.0), "tick", "middle", "p99");
    }
}

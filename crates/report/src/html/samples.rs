//! Throughput: each second a point, in its order, with the mean and one standard deviation either side.

use crate::figures::real;
use crate::shape::{Block, Price};

use super::svg::{Axis, Svg};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 44.0;
const BASE: f64 = 222.0;
const PANEL: f64 = 182.0;
const GAP: f64 = 20.0;

pub fn draw(price: &Price) -> String {
    let all = price.before.per_s_samples.iter().chain(&price.after.per_s_samples).copied();
    let tops = [&price.before, &price.after].map(|block| block.throughput_per_s + block.throughput_sd);
    let axis = Axis::to(all.chain(tops).filter(|value| value.is_finite()).fold(0.0, f64::max), 4.0);
    let mut svg = Svg::default();
    svg.text((LEFT, 14.0), "tick", "start", "transactions per second");
    for tick in axis.ticks() {
        let y = BASE - axis.place(tick) * (BASE - TOP);
        svg.line((LEFT, y), (LEFT + 2.0 * PANEL + GAP, y), if tick == 0.0 { "axis" } else { "grid" });
        svg.text((LEFT - 8.0, y + 4.0), "tick", "end", &crate::figures::short(tick));
    }
    panel(&mut svg, &price.before, "before", "plain", LEFT, &axis);
    panel(&mut svg, &price.after, "after", "sealed", LEFT + PANEL + GAP, &axis);
    let about = format!(
        "before {} with standard deviation {}, after {} with standard deviation {}, transactions per second",
        real(price.before.throughput_per_s),
        real(price.before.throughput_sd),
        real(price.after.throughput_per_s),
        real(price.after.throughput_sd)
    );
    svg.close((WIDTH, HEIGHT), "plot", "Throughput in each second", &about)
}

fn panel(svg: &mut Svg, block: &Block, name: &str, class: &str, left: f64, axis: &Axis) {
    let y = |value: f64| BASE - axis.place(value) * (BASE - TOP);
    let (mean, sd) = (block.throughput_per_s, block.throughput_sd);
    let (upper, lower) = (y(mean + sd), y(mean - sd));
    svg.put(format_args!(
        "<rect x=\"{left:.1}\" y=\"{upper:.1}\" width=\"{PANEL}\" height=\"{:.1}\" class=\"band {class}\"/>",
        (lower - upper).max(1.0)
    ));
    svg.line((left, y(mean)), (left + PANEL, y(mean)), &format!("mean {class}"));
    let count = block.per_s_samples.len().max(1) as f64;
    for (second, sample) in block.per_s_samples.iter().enumerate() {
        let x = left + (second as f64 + 0.5) / count * PANEL;
        svg.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.2\" class=\"sample {class}\"><title>{}</title></circle>",
            y(*sample),
            real(*sample)
        ));
    }
    svg.text((left, TOP - 12.0), "tick strong", "start", &format!("{name} {} ± {}", real(mean), real(sd)));
    svg.text((left, BASE + 17.0), "tick", "start", "0 s");
    svg.text(
        (left + PANEL, BASE + 17.0),
        "tick",
        "end",
        &format!("{} s", crate::figures::short(block.seconds)),
    );
}

//! How arms are told apart: each has a colour, a shape and a dash of its own, so that print and the colour-blind have two
//! signs left.
//!
//! # Source
//! Okabe, Ito: Color Universal Design (2008). Their yellow is left out: nobody sees it on white.

use super::svg::{Svg, escape};

/// Colours, as classes `m0` to `m6` of `bench.css`.
const COLOURS: usize = 7;
/// The first is a whole line.
const DASHES: [&str; 7] = ["", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "1 4", "12 5"];
const SHAPES: usize = 7;

/// The mark of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub colour: usize,
    pub shape: usize,
    pub dash: &'static str,
}

impl Mark {
    /// Seven have all three of their own; what comes behind them shares a colour, and not the shape with it.
    pub fn of(arm: usize) -> Self {
        let round = arm / COLOURS;
        let shape = (arm + round) % SHAPES;
        Self { colour: arm % COLOURS, shape, dash: DASHES.get(shape).copied().unwrap_or_default() }
    }

    /// An outline around the middle, about as large in each shape.
    pub fn path(self, (x, y): (f64, f64), radius: f64) -> String {
        let corner = |dx: f64, dy: f64| format!("{:.1} {:.1}", x + dx * radius, y + dy * radius);
        let shape = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners.iter().map(|(dx, dy)| corner(*dx, *dy)).collect();
            format!("M{}Z", corners.join("L"))
        };
        match self.shape {
            0 => format!(
                "M{} a{r:.1} {r:.1} 0 1 0 {d:.1} 0 a{r:.1} {r:.1} 0 1 0 -{d:.1} 0Z",
                corner(-1.0, 0.0),
                r = radius,
                d = 2.0 * radius
            ),
            1 => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => shape(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            3 => shape(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]),
            4 => shape(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
            5 => {
                let (long, thin) = (1.2, 0.42);
                shape(&[
                    (-thin, -long),
                    (thin, -long),
                    (thin, -thin),
                    (long, -thin),
                    (long, thin),
                    (thin, thin),
                    (thin, long),
                    (-thin, long),
                    (-thin, thin),
                    (-long, thin),
                    (-long, -thin),
                    (-thin, -thin),
                ])
            }
            _ => shape(&[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)]),
        }
    }

    /// Filled is ours, hollow is somebody else's.
    pub fn put(self, svg: &mut Svg, at: (f64, f64), radius: f64, is_hollow: bool, title: &str) {
        let (path, colour) = (self.path(at, radius), self.colour);
        let hollow = if is_hollow { " hollow" } else { "" };
        svg.put(format_args!(
            "<path d=\"{path}\" class=\"mark m{colour}{hollow}\"><title>{}</title></path>",
            escape(title)
        ));
    }

    /// Straight from point to point: nothing is known between them.
    pub fn line(self, svg: &mut Svg, points: &[(f64, f64)], class: &str) {
        if points.len() < 2 {
            return;
        }
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let (colour, dash) = (self.colour, self.dash);
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        svg.put(format_args!(
            "<polyline points=\"{}\" class=\"{class} m{colour}\"{dash}/>",
            points.join(" ")
        ));
    }

    /// For a legend.
    pub fn key(self, is_hollow: bool) -> String {
        let mut svg = Svg::default();
        if !is_hollow {
            self.line(&mut svg, &[(1.0, 8.0), (33.0, 8.0)], "run");
        }
        let (path, colour) = (self.path((17.0, 8.0), 5.0), self.colour);
        let hollow = if is_hollow { " hollow" } else { "" };
        svg.put(format_args!("<path d=\"{path}\" class=\"mark m{colour}{hollow}\"/>"));
        svg.hidden((34.0, 16.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_arms_have_the_same_mark_and_seven_share_nothing() {
        let pairs: BTreeSet<(usize, usize)> =
            (0..42).map(|arm| (Mark::of(arm).colour, Mark::of(arm).shape)).collect();
        assert_eq!(pairs.len(), 42);
        let part = |of: &dyn Fn(Mark) -> String| (0..7).map(|arm| of(Mark::of(arm))).collect::<BTreeSet<_>>();
        assert_eq!(part(&|mark| mark.dash.to_owned()).len(), 7);
        assert_eq!(part(&|mark| mark.path((0.0, 0.0), 5.0)).len(), 7);
    }
}

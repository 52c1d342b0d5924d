//! What the pictures share: escaping, axes from zero, a place for text.

use std::fmt::Write as _;

/// Everything that could end a text or an attribute.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#x27;"),
            // XML knows no other control characters.
            '\n' | '\t' => safe.push(' '),
            char if char.is_control() => safe.push('\u{fffd}'),
            char => safe.push(char),
        }
    }
    safe
}

/// Cut to what fits a label; the full text stands in a table.
pub fn short(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// An axis that begins at zero and ends at a round number.
pub struct Axis {
    pub end: f64,
    pub step: f64,
}

impl Axis {
    pub fn to(largest: f64, ticks: f64) -> Self {
        let largest = if largest.is_finite() && largest > 0.0 { largest } else { 1.0 };
        let rough = largest / ticks;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * power);
        Self { end: (largest / step * 0.999).ceil().max(1.0) * step, step }
    }

    pub fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        (0u8..=100).map(|n| f64::from(n) * self.step).take_while(|tick| *tick <= self.end * 1.001)
    }

    /// Where a value lies, 0 to 1; what is not a number lies at zero.
    pub fn place(&self, value: f64) -> f64 {
        if value.is_finite() { (value / self.end).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// A picture that grows; `write!` to a `String` cannot fail.
#[derive(Default)]
pub struct Svg {
    body: String,
}

impl Svg {
    pub fn put(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    pub fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: &str, text: &str) {
        let text = escape(text);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        self.put(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        ));
    }

    /// A picture of no words, beside words that say the same.
    pub fn hidden(self, (width, height): (f64, f64)) -> String {
        format!("<svg viewBox=\"0 0 {width:.0} {height:.0}\" aria-hidden=\"true\">{}</svg>", self.body)
    }

    /// `title` names the picture for those who do not see it, `about` tells what it shows.
    pub fn close(self, (width, height): (f64, f64), class: &str, title: &str, about: &str) -> String {
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}. {}\">\n{}</svg>",
            escape(title),
            escape(about),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_begins_at_zero_ends_round_and_holds_the_largest() {
        let check = |largest: f64, end: f64, step: f64| {
            let axis = Axis::to(largest, 5.0);
            assert!(
                (axis.end - end).abs() < 1e-9 && (axis.step - step).abs() < 1e-9,
                "{} {}",
                axis.end,
                axis.step
            );
            assert!(axis.place(largest) <= 1.0);
        };
        check(487.0, 500.0, 100.0);
        check(1251.0, 1500.0, 500.0);
        check(10.42, 15.0, 5.0);
        check(0.0, 1.0, 0.2);
        check(f64::NAN, 1.0, 0.2);
        check(1.0, 1.0, 0.2);
    }

    #[test]
    fn nothing_leaves_a_text_or_an_attribute() {
        assert_eq!(escape("a\"><script>'&\u{1b}"), "a&quot;&gt;&lt;script&gt;&#x27;&amp;\u{fffd}");
    }
}

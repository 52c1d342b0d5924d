//! Captured bytes as people know them from `hexdump -C`, the canary marked.

use std::fmt::Write as _;

use crate::shape::EvidenceRow;

use super::svg::escape;

const ROW_BYTES: usize = 16;
/// A canary with 48 bytes on either side is 120 bytes; more is not shown, it is in `report.json`.
const BYTES_MAX: usize = 256;

pub fn draw(evidence: &EvidenceRow) -> String {
    let Some(bytes) = unhex(&evidence.bytes_hex) else {
        return format!("<pre class=\"hex\">{}</pre>", escape(&evidence.text));
    };
    let marks = marks(&bytes, evidence.canary.as_bytes());
    let marked: Vec<(u8, bool)> = bytes.into_iter().zip(marks).take(BYTES_MAX).collect();
    let mut html = String::from("<pre class=\"hex\">");
    for (row, part) in marked.chunks(ROW_BYTES).enumerate() {
        let _ = write!(html, "<span class=\"off\">{:04x}</span>  ", row * ROW_BYTES);
        let mut hex = Run::default();
        let mut text = Run::default();
        for place in 0..ROW_BYTES {
            let gap = if place == ROW_BYTES - 1 {
                ""
            } else if place == 7 {
                "  "
            } else {
                " "
            };
            match part.get(place) {
                Some((byte, is_canary)) => {
                    // The blank belongs to the mark only when the next byte does too.
                    let next = part.get(place + 1).is_some_and(|(_, next)| *next);
                    hex.put(&format!("{byte:02x}"), *is_canary);
                    hex.put(gap, *is_canary && next);
                    let char = if (32..127).contains(byte) { char::from(*byte) } else { '.' };
                    text.put(&escape(&char.to_string()), *is_canary);
                }
                None => hex.put(&format!("  {gap}"), false),
            }
        }
        let _ = writeln!(html, "{}  |{}|", hex.close(), text.close());
    }
    html.push_str("</pre>");
    html
}

/// Text in which marked stretches are joined into one `<mark>`.
#[derive(Default)]
struct Run {
    html: String,
    is_open: bool,
}

impl Run {
    fn put(&mut self, safe: &str, is_marked: bool) {
        if is_marked != self.is_open {
            self.html.push_str(if is_marked { "<mark>" } else { "</mark>" });
            self.is_open = is_marked;
        }
        self.html.push_str(safe);
    }

    fn close(mut self) -> String {
        self.put("", false);
        self.html
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|char| !char.is_whitespace())
        .map(|char| char.to_digit(16))
        .map(|digit| digit.and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn marks(bytes: &[u8], canary: &[u8]) -> Vec<bool> {
    let mut marks = vec![false; bytes.len()];
    if canary.is_empty() {
        return marks;
    }
    for (at, window) in bytes.windows(canary.len()).enumerate() {
        if window == canary {
            marks[at..at + canary.len()].fill(true);
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: &[u8], canary: &str) -> EvidenceRow {
        let mut bytes_hex = String::new();
        for byte in bytes {
            let _ = write!(bytes_hex, "{byte:02x}");
        }
        EvidenceRow { flow: "a -> b".into(), bytes_hex, text: "<text>".into(), canary: canary.into() }
    }

    #[test]
    fn the_canary_is_marked_in_both_columns_across_rows() {
        let html = draw(&row(b"0123456789abcdSLCA<ARY", "SLCA<ARY"));
        assert!(html.contains("64 <mark>53 4c</mark>  |0123456789abcd<mark>SL</mark>|"), "{html}");
        assert!(html.contains("<mark>43 41 3c 41 52 59</mark> "), "{html}");
        assert!(html.contains("|<mark>CA&lt;ARY</mark>|"), "{html}");
    }

    #[test]
    fn what_is_no_hex_is_shown_as_text() {
        let broken = EvidenceRow { bytes_hex: "0g".into(), ..row(b"", "") };
        assert_eq!(draw(&broken), "<pre class=\"hex\">&lt;text&gt;</pre>");
        assert_eq!(
            draw(&EvidenceRow { bytes_hex: "abc".into(), ..broken }),
            "<pre class=\"hex\">&lt;text&gt;</pre>"
        );
    }
}

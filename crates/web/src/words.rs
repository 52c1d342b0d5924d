//! Times and names as a page has them.

use std::fmt::Write;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// A certificate that ends so soon is marked.
const SOON_DAYS: i64 = 30;
const NOW_DAYS: i64 = 7;

/// `12 s`, `5 min`, `3 h`, `12 days`.
pub fn span(seconds: u64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / MINUTE),
        7200..172_800 => format!("{} h", seconds / HOUR),
        _ => format!("{} days", seconds / DAY),
    }
}

pub fn ago(at_unix_ms: u64, now_unix_ms: u64) -> String {
    format!("{} ago", span(now_unix_ms.saturating_sub(at_unix_ms) / 1000))
}

/// `2026-11-25 12:35:34 UTC`.
pub fn moment(unix_ms: u64) -> String {
    let text = model::clock::rfc3339(unix_ms);
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// `2026-11-25`.
pub fn day(unix: i64) -> String {
    let Ok(seconds) = u64::try_from(unix) else { return "before 1970".into() };
    let text = model::clock::rfc3339(seconds.saturating_mul(1000));
    text.get(..10).map_or_else(|| text.clone(), str::to_owned)
}

/// `in 12 days`, `ended 3 h ago`.
pub fn until(unix: i64, now_unix_ms: u64) -> String {
    let left_s = left(unix, now_unix_ms);
    if left_s < 0 {
        format!("ended {} ago", span(left_s.unsigned_abs()))
    } else {
        format!("in {}", span(left_s.unsigned_abs()))
    }
}

fn left(unix: i64, now_unix_ms: u64) -> i64 {
    unix.saturating_sub(i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX))
}

/// The class of an end: `bad`, `soon` or nothing.
pub fn urgency(unix: i64, now_unix_ms: u64) -> &'static str {
    let day = i64::try_from(DAY).unwrap_or(i64::MAX);
    match left(unix, now_unix_ms) {
        left if left < NOW_DAYS * day => "bad",
        left if left < SOON_DAYS * day => "soon",
        _ => "",
    }
}

/// As one segment of a path.
pub fn segment(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// The first bytes of a fingerprint tell certificates apart in a table; the whole is in the title.
pub fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_words() {
        assert_eq!(
            [0, 119, 120, 7199, 7200, 172_800].map(span),
            ["0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]
        );
        assert_eq!(ago(1_000, 13_500), "12 s ago");
        assert_eq!(ago(9_000, 1_000), "0 s ago");
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(day(86_400), "1970-01-02");
        assert_eq!(day(-1), "before 1970");
        assert!(!day(i64::MAX).is_empty() && !moment(u64::MAX).is_empty());
        assert_eq!(until(86_400 * 40, 0), "in 40 days");
        assert_eq!(until(0, 86_400_000 * 3), "ended 3 days ago");
        assert_eq!(urgency(0, 1_000), "bad");
        assert_eq!(urgency(i64::MIN, u64::MAX), "bad");
        assert_eq!(urgency(86_400 * 20, 0), "soon");
        assert_eq!(urgency(86_400 * 31, 0), "");
    }

    #[test]
    fn names_are_safe_in_a_path() {
        assert_eq!(segment("prod-1.eu_a~"), "prod-1.eu_a~");
        assert_eq!(segment("a/b?c#d <é>"), "a%2Fb%3Fc%23d%20%3C%C3%A9%3E");
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("ééééééé", 4), "ééé…");
    }
}

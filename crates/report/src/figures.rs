//! Numbers as people read them: thousands apart, with a unit, no digit that was not measured.

use model::clock::rfc3339;
pub use model::text::{bytes, real, thousands};

/// The same without zeros that say nothing: `5`, `0.5`. For axes, where numbers are round.
pub fn short(number: f64) -> String {
    let text = real(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `412 ms`, `4.31 s`, `2 min 04 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..100_000 => format!("{} s", real(ms as f64 / 1000.0)),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `2026-11-21 09:42:38 UTC`
pub fn moment(unix_ms: u64) -> String {
    // The year 9999: beyond it a millisecond count is a mistake, and the calendar arithmetic could overflow.
    const UNIX_MS_MAX: u64 = 253_402_300_799_999;
    if unix_ms > UNIX_MS_MAX {
        return format!("{unix_ms} ms since 1970");
    }
    let text = rfc3339(unix_ms);
    format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..19).unwrap_or_default())
}

/// `2026-11-21`
pub fn day(unix: i64) -> String {
    u64::try_from(unix)
        .ok()
        .and_then(|seconds| seconds.checked_mul(1000))
        .map_or_else(|| format!("{unix} s since 1970"), |ms| moment(ms).chars().take(10).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_like_numbers() {
        let check = |shown: String, text: &str| assert_eq!(shown, text);
        check(thousands(0), "0");
        check(thousands(999), "999");
        check(thousands(48_210), "48,210");
        check(thousands(1_234_567), "1,234,567");
        check(real(0.934), "0.93");
        check(real(56.71), "56.7");
        check(real(1234.4), "1,234");
        check(real(f64::NAN), "not a number");
        check(duration(412), "412 ms");
        check(duration(4_310), "4.31 s");
        check(duration(124_900), "2 min 04 s");
        check(bytes(0), "0 B");
        check(bytes(31_744), "31.0 KiB");
        check(bytes(8_321_499_136), "7.75 GiB");
        check(moment(1_795_254_158_123), "2026-11-21 09:42:38 UTC");
        check(day(1_795_254_158), "2026-11-21");
        check(day(-1), "-1 s since 1970");
    }

    #[test]
    fn axes_have_round_numbers_that_keep_their_size() {
        for (number, expected) in
            [(5.0, "5"), (0.5, "0.5"), (50.0, "50"), (1000.0, "1,000"), (0.0, "0"), (12.5, "12.5")]
        {
            assert_eq!(short(number), expected);
        }
    }

    #[test]
    fn absurd_numbers_do_not_panic() {
        for absurd in [u64::MAX, u64::MAX / 2] {
            moment(absurd);
            bytes(absurd);
            duration(absurd);
            thousands(absurd);
        }
        day(i64::MAX);
        day(i64::MIN);
        real(f64::MAX);
    }
}

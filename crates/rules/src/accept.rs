//! Risks that somebody has accepted: for a rule and a target, with a reason, until a day. An accepted finding is still a
//! finding, and lowers the grade as before; it only stops no build. Past its day it counts again.

use std::fmt;

use crate::by_id;

/// Every target.
pub const EVERYWHERE: &str = "*";
/// A reason is a sentence or two; a longer one is somebody's mistake.
const REASON_CHARS_MAX: usize = 500;
const TARGET_CHARS_MAX: usize = 300;
const SECONDS_PER_DAY: u64 = 86_400;

/// A day of the calendar, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    of_month: u8,
}

impl Day {
    /// `2027-03-01`.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("\"{}\" is no day as 2027-03-01 is one", text.escape_default());
        let digits = |from: usize, to: usize| -> Result<u16, String> {
            let part = text.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            part.and_then(|part| part.parse().ok()).ok_or_else(bad)
        };
        let at = |place: usize| text.as_bytes().get(place) == Some(&b'-');
        if text.len() != 10 || !at(4) || !at(7) {
            return Err(bad());
        }
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return Err(format!("\"{text}\" has no such month")),
        };
        if day == 0 || day > days {
            return Err(format!("\"{text}\" has no such day"));
        }
        // All below 32, as just seen.
        let small = |number: u16| u8::try_from(number).unwrap_or_default();
        Ok(Self { year, month: small(month), of_month: small(day) })
    }

    /// The day of a moment, in milliseconds since 1970.
    pub fn of_unix_ms(unix_ms: u64) -> Self {
        let text = model::clock::rfc3339(unix_ms);
        // Beyond the year 9999 the text is longer: nothing is accepted for so long.
        text.get(..10).and_then(|day| Self::parse(day).ok()).unwrap_or(Self {
            year: u16::MAX,
            month: 12,
            of_month: 31,
        })
    }

    /// Its last second, since 1970.
    pub fn ends_unix(self) -> u64 {
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": days_from_civil.
        let (year, month) = (u64::from(self.year) - u64::from(self.month <= 2), u64::from(self.month));
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + u64::from(self.of_month) - 1;
        let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (days.saturating_sub(719_468) + 1) * SECONDS_PER_DAY - 1
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.of_month)
    }
}

/// One accepted risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    pub rule: String,
    /// A target as it is named in results, its host or address alone, or [`EVERYWHERE`].
    pub target: String,
    pub reason: String,
    /// The last day on which it counts.
    pub until: Day,
}

impl Acceptance {
    /// # Errors
    /// What is wrong, as a sentence without a subject.
    pub fn new(rule: &str, target: &str, reason: &str, until: Day) -> Result<Self, String> {
        let known = by_id(rule).ok_or_else(|| format!("there is no rule \"{}\"", rule.escape_default()))?;
        let target = target.trim();
        if target.is_empty()
            || target.chars().count() > TARGET_CHARS_MAX
            || target.chars().any(char::is_control)
        {
            return Err(format!("\"{}\" is no target", target.escape_default()));
        }
        let reason = reason.trim();
        if reason.is_empty() {
            return Err("the reason is empty: whoever reads it next must know why".into());
        }
        if reason.chars().count() > REASON_CHARS_MAX || reason.chars().any(char::is_control) {
            return Err(format!("the reason must be one line of at most {REASON_CHARS_MAX} characters"));
        }
        Ok(Self { rule: known.id().into(), target: target.into(), reason: reason.into(), until })
    }
}

/// What was accepted, and whether that still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'a> {
    Counts(&'a Acceptance),
    Expired(&'a Acceptance),
}

/// All accepted risks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acceptances(pub Vec<Acceptance>);

impl Acceptances {
    /// How `rule` stands at a target that goes by these `names`. Of several that speak of it the one that counts longest
    /// decides.
    pub fn of(&self, rule: &str, names: &[&str], today: Day) -> Option<Standing<'_>> {
        let one = self
            .0
            .iter()
            .filter(|one| one.rule.eq_ignore_ascii_case(rule))
            .filter(|one| {
                one.target == EVERYWHERE || names.iter().any(|name| name.eq_ignore_ascii_case(&one.target))
            })
            .max_by_key(|one| one.until)?;
        Some(if one.until >= today { Standing::Counts(one) } else { Standing::Expired(one) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).expect(text)
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for good in ["2027-03-01", "2024-02-29", "2000-02-29", "1970-01-01", "2026-12-31"] {
            assert_eq!(day(good).to_string(), good);
            let last_ms = day(good).ends_unix() * 1000;
            assert_eq!(Day::of_unix_ms(last_ms).to_string(), good);
            assert!(Day::of_unix_ms(last_ms + 1000) > day(good), "{good}");
        }
        for bad in [
            "",
            "2027-3-1",
            "2027-03-32",
            "2027-02-29",
            "1900-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "27-03-01",
            "2027-03-01T",
            "+027-03-01",
            "2027/03/01",
            "2027-03-0\u{e9}",
        ] {
            assert!(Day::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_acceptance_names_a_rule_a_target_and_a_reason() {
        let check = |rule: &str, target: &str, reason: &str, part: &str| {
            let error = Acceptance::new(rule, target, reason, day("2027-03-01")).expect_err(part);
            assert!(error.contains(part), "{error}");
        };
        check("SL9999", "*", "old", "no rule \"SL9999\"");
        check("SL1110", "  ", "old", "is no target");
        check("SL1110", "*", " ", "the reason is empty");
        check("SL1110", "*", "a\nb", "one line");
        let good = Acceptance::new("sl1110", " * ", " old clients ", day("2027-03-01")).expect("good");
        assert_eq!(
            (good.rule.as_str(), good.target.as_str(), good.reason.as_str()),
            ("SL1110", "*", "old clients")
        );
    }

    #[test]
    fn it_counts_to_the_end_of_its_day_for_its_target_and_rule_only() {
        let one = |target: &str, until: &str| {
            Acceptance::new("SL1110", target, "old clients", day(until)).expect("good")
        };
        let all = Acceptances(vec![
            one("DB1:3306", "2027-03-01"),
            one("db2", "2026-01-01"),
            one("db2", "2026-02-01"),
        ]);
        let check = |rule: &str, names: &[&str], today: &str, expected: Option<bool>| {
            let found =
                all.of(rule, names, day(today)).map(|standing| matches!(standing, Standing::Counts(_)));
            assert_eq!(found, expected, "{rule} {names:?} {today}");
        };
        check("SL1110", &["db1:3306", "db1"], "2027-03-01", Some(true));
        check("SL1110", &["db1:3306", "db1"], "2027-03-02", Some(false));
        check("SL1110", &["db1:3307", "db1"], "2026-03-01", None);
        check("SL1111", &["db1:3306"], "2026-03-01", None);
        // The longer one of two.
        check("SL1110", &["db2:3306", "db2"], "2026-01-15", Some(true));
        let everywhere = Acceptances(vec![one(EVERYWHERE, "2027-03-01")]);
        assert!(matches!(everywhere.of("SL1110", &["x:1"], day("2026-01-01")), Some(Standing::Counts(_))));
    }
}

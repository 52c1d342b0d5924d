//! What holds a change between two of its steps: times of the day. Nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

const DAY_MINUTES: u16 = 24 * 60;

/// Times of the day in which a server may be changed, as the wall clock shows them: `22:00-04:30`. Nobody computes how long it is until
/// one begins: where clocks are set forward or back, whoever waits reads the clock again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    from: u16,
    /// The first minute behind it; 1440 at the end of a day.
    to: u16,
}

impl Window {
    /// Whether it is open at this minute of the day, 0 to 1439.
    pub fn is_open(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }

    /// `22:00`
    pub fn opens_at(self) -> String {
        clock_text(self.from)
    }
}

fn clock_text(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", clock_text(self.from), clock_text(self.to))
    }
}

/// Says at which character a text is not what it must be.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl Cursor<'_> {
    fn wrong(&self, wanted: &str) -> String {
        let found = match self.text.chars().nth(self.at) {
            Some(found) => format!("character {} is '{}'", self.at + 1, found.escape_default()),
            None => format!("it ends after character {}", self.at),
        };
        format!("{found}, where {wanted} must be; a window is HH:MM-HH:MM, such as 22:00-04:30")
    }

    fn number(&mut self, what: &str, max: u16) -> Result<u16, String> {
        let begins_at = self.at + 1;
        let mut number = 0;
        for _ in 0..2 {
            let digit = self.text.chars().nth(self.at).and_then(|found| found.to_digit(10));
            let digit = digit.ok_or_else(|| self.wrong("a digit"))?;
            number = number * 10 + u16::try_from(digit).unwrap_or(0);
            self.at += 1;
        }
        if number > max {
            return Err(format!(
                "characters {begins_at} and {} are {number:02}, and {what} is 00 to {max}",
                begins_at + 1
            ));
        }
        Ok(number)
    }

    fn sign(&mut self, sign: char) -> Result<(), String> {
        if self.text.chars().nth(self.at) != Some(sign) {
            return Err(self.wrong(&format!("'{sign}'")));
        }
        self.at += 1;
        Ok(())
    }

    /// Minutes since midnight.
    fn time(&mut self, hour_max: u16) -> Result<u16, String> {
        let hour = self.number("an hour", hour_max)?;
        self.sign(':')?;
        // 24:00 is the end of a day, and there is no 24:01.
        let minute = self.number("a minute here", if hour == 24 { 0 } else { 59 })?;
        Ok(hour * 60 + minute)
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut cursor = Cursor { text, at: 0 };
        let from = cursor.time(23)?;
        cursor.sign('-')?;
        let to = cursor.time(24)?;
        if text.chars().nth(cursor.at).is_some() {
            return Err(cursor.wrong("the end"));
        }
        if from == to {
            return Err(format!(
                "it begins and ends at {}, so it is empty; the whole day is 00:00-24:00",
                clock_text(from)
            ));
        }
        debug_assert!(from < DAY_MINUTES && to <= DAY_MINUTES);
        Ok(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(window: &str) -> Vec<u16> {
        let window: Window = window.parse().expect("a window");
        (0..DAY_MINUTES).filter(|&minute| window.is_open(minute)).collect()
    }

    #[test]
    fn a_window_is_open_from_its_first_minute_until_its_last_also_over_midnight() {
        assert_eq!(open("01:00-01:03"), [60, 61, 62]);
        assert_eq!(open("23:58-00:02"), [0, 1, 1438, 1439]);
        assert_eq!(open("00:00-24:00").len(), 1440);
        assert_eq!(open("23:59-24:00"), [1439]);
        assert_eq!(open("23:59-00:00"), [1439]);
        assert_eq!(open("12:00-11:59").len(), 1439);
        let window: Window = "22:00-04:30".parse().expect("a window");
        assert_eq!((window.to_string().as_str(), window.opens_at().as_str()), ("22:00-04:30", "22:00"));
        assert_eq!("00:00-24:00".parse::<Window>().expect("a day").to_string(), "00:00-24:00");
    }

    #[test]
    fn a_minute_that_comes_twice_or_never_is_judged_by_what_the_clock_shows() {
        // Forward at 02:00: after 01:59 the clock shows 03:00. Back at 03:00: after 02:59 it shows 02:00 again.
        let window: Window = "02:30-03:10".parse().expect("a window");
        let forward = [119, 180, 181, 190].map(|minute| window.is_open(minute));
        assert_eq!(forward, [false, true, true, false]);
        let back = [149, 150, 179, 120, 149, 150].map(|minute| window.is_open(minute));
        assert_eq!(back, [false, true, true, false, false, true]);
    }

    #[test]
    fn what_is_no_window_is_refused_with_the_place() {
        for (text, why) in [
            ("", "it ends after character 0, where a digit must be"),
            ("22", "it ends after character 2, where ':' must be"),
            ("2:00-04:00", "character 2 is ':', where a digit must be"),
            ("22:00", "it ends after character 5, where '-' must be"),
            ("22:00–04:00", "character 6 is '\\u{2013}', where '-' must be"),
            ("22:00-04:0x", "character 11 is 'x', where a digit must be"),
            ("22:00-04:00 ", "character 12 is ' ', where the end must be"),
            ("25:00-04:00", "characters 1 and 2 are 25, and an hour is 00 to 23"),
            ("24:00-04:00", "characters 1 and 2 are 24, and an hour is 00 to 23"),
            ("22:60-04:00", "characters 4 and 5 are 60, and a minute here is 00 to 59"),
            ("22:00-24:01", "characters 10 and 11 are 01, and a minute here is 00 to 0"),
            ("22:00-22:00", "it begins and ends at 22:00"),
        ] {
            let told = text.parse::<Window>().expect_err(text);
            assert!(told.starts_with(why), "{text}: {told}");
        }
    }
}

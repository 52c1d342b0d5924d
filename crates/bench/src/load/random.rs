//! Numbers and texts of the workloads: the same distributions, by the same parameters, as sysbench 1.0's `--rand-type`.

use std::fmt;
use std::str::FromStr;

/// How ids are drawn. Defaults are sysbench 1.0's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    Uniform,
    /// The mean of so many uniform numbers.
    Gaussian {
        numbers: u32,
    },
    /// `hot_share` of all draws fall on `hot_percent` of the values, in the middle; the others are gaussian.
    Special {
        numbers: u32,
        hot_percent: u32,
        hot_share: u32,
    },
    /// `1 - h` of all draws fall on the first `h` of the values.
    Pareto {
        h: f64,
    },
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Special { numbers: 12, hot_percent: 1, hot_share: 75 }
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "uniform" => Ok(Self::Uniform),
            "gaussian" => Ok(Self::Gaussian { numbers: 12 }),
            "special" => Ok(Self::default()),
            "pareto" => Ok(Self::Pareto { h: 0.2 }),
            _ => Err(format!("unknown distribution {text:?}: use special, uniform, gaussian or pareto")),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Gaussian { .. } => "gaussian",
            Self::Special { .. } => "special",
            Self::Pareto { .. } => "pareto",
        })
    }
}

impl Distribution {
    /// A number from `first` to `last`, both included.
    pub fn draw(&self, random: &mut fastrand::Rng, first: u32, last: u32) -> u32 {
        let values = f64::from(last.saturating_sub(first)) + 1.0;
        let offset = match *self {
            Self::Uniform => random.f64() * values,
            Self::Gaussian { numbers } => mean(random, numbers) * values,
            Self::Special { numbers, hot_percent, hot_share } => {
                let number = random.f64();
                if number < 1.0 - f64::from(hot_share.min(100)) / 100.0 {
                    mean(random, numbers) * values
                } else {
                    // The number that chose is used again, as sysbench does: the first quarter of the hot values stays cold.
                    let hot = values * f64::from(hot_percent.min(100)) / 100.0;
                    (values - hot) / 2.0 + number * hot
                }
            }
            Self::Pareto { h } => values * random.f64().powf(h.ln() / (1.0 - h).ln()),
        };
        first.saturating_add(whole(offset)).min(last)
    }
}

fn mean(random: &mut fastrand::Rng, numbers: u32) -> f64 {
    let numbers = numbers.max(1);
    (0..numbers).map(|_| random.f64()).sum::<f64>() / f64::from(numbers)
}

/// The whole part of a number that is not negative; what is over the largest becomes it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> u32 {
    number as u32
}

/// Ten groups of eleven digits, `-` between: column `c`.
pub const C_BYTES: usize = 119;
/// Five of them: column `pad`.
pub const PAD_BYTES: usize = 59;

/// Fills with groups of eleven random digits and `-` between them.
pub fn fill_digits(random: &mut fastrand::Rng, out: &mut [u8]) {
    // Eighteen digits of one number are as good as random.
    let (mut number, mut left) = (0, 0);
    for (at, byte) in out.iter_mut().enumerate() {
        if at % 12 == 11 {
            *byte = b'-';
            continue;
        }
        if left == 0 {
            (number, left) = (random.u64(0..1_000_000_000_000_000_000), 18);
        }
        *byte = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// How many of the draws from 1 to 10,000 are in the range.
    fn share(distribution: Distribution, first: u32, last: u32) -> f64 {
        let mut random = fastrand::Rng::with_seed(7);
        let hits = (0..DRAWS).filter(|_| {
            let drawn = distribution.draw(&mut random, 1, 10_000);
            assert!((1..=10_000).contains(&drawn));
            (first..=last).contains(&drawn)
        });
        hits.count() as f64 / f64::from(DRAWS)
    }

    fn is_near(share: f64, expected: f64) {
        assert!((share - expected).abs() < 0.01, "{share} is not {expected}");
    }

    #[test]
    fn shares_are_those_of_the_definitions() {
        is_near(share(Distribution::Uniform, 1, 2_500), 0.25);
        // Half of all in 2 % around the middle: 75 % of 1 %, and the gaussian rest.
        let special = share(Distribution::default(), 4_951, 5_050);
        assert!((0.75..0.80).contains(&special), "{special}");
        is_near(share("pareto".parse().expect("known"), 1, 2_000), 0.8);
        // Of the mean of twelve: standard deviation 1/12 of the range.
        is_near(share("gaussian".parse().expect("known"), 4_167, 5_834), 0.683);
        assert!("zipf".parse::<Distribution>().is_err());
    }

    #[test]
    fn one_value_is_always_drawn_and_the_ends_are_reached() {
        let mut random = fastrand::Rng::with_seed(1);
        for name in ["uniform", "gaussian", "special", "pareto"] {
            let distribution: Distribution = name.parse().expect("known");
            assert_eq!(distribution.draw(&mut random, 5, 5), 5, "{name}");
        }
        let drawn: Vec<u32> = (0..1000).map(|_| Distribution::Uniform.draw(&mut random, 1, 3)).collect();
        assert!([1, 2, 3].iter().all(|value| drawn.contains(value)));
    }

    #[test]
    fn texts_have_groups_of_eleven_digits() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut text = [0; C_BYTES];
        fill_digits(&mut random, &mut text);
        let text = String::from_utf8(text.to_vec()).expect("ASCII");
        let groups: Vec<&str> = text.split('-').collect();
        assert_eq!(groups.len(), 10);
        assert!(
            groups.iter().all(|group| group.len() == 11 && group.bytes().all(|byte| byte.is_ascii_digit()))
        );
        // No digit is missing in so many.
        assert!((b'0'..=b'9').all(|digit| text.bytes().any(|byte| byte == digit)), "{text}");
    }
}

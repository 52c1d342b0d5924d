//! Until when a series of servers gets security fixes of its maker, by a dated table. Distributions may go on for longer.

use model::Value;

use crate::capability::{Capabilities, Flavour};

/// When the table was last compared with what the makers say.
pub const CHECKED: &str = "2026-11";

/// Series that have ended, and when.
///
/// # Source
/// MySQL: Oracle Lifetime Support Policy, MySQL Releases. MariaDB: Maintenance Policy of the MariaDB Foundation, community server.
const ENDED: &[(bool, (u16, u16), &str)] = &[
    (true, (5, 5), "April 2020"),
    (true, (10, 0), "March 2019"),
    (true, (10, 1), "October 2020"),
    (true, (10, 2), "May 2022"),
    (true, (10, 3), "May 2023"),
    (true, (10, 4), "June 2024"),
    (true, (10, 5), "June 2025"),
    (true, (10, 6), "July 2026"),
    (false, (5, 1), "December 2013"),
    (false, (5, 5), "December 2018"),
    (false, (5, 6), "February 2021"),
    (false, (5, 7), "October 2023"),
    (false, (8, 0), "April 2026"),
];
/// Series with long support that have not, when the table was checked.
const SUPPORTED: &[(bool, (u16, u16))] =
    &[(true, (10, 11)), (true, (11, 4)), (true, (11, 8)), (false, (8, 4)), (false, (9, 7))];

/// Since when the series of a server has no more fixes; absent where it has them.
pub fn ended(capabilities: &Capabilities) -> Value {
    let series = (capabilities.version.0, capabilities.version.1);
    let is_mariadb = capabilities.flavour == Flavour::MariaDb;
    let is_it = |one: (bool, (u16, u16))| one == (is_mariadb, series);
    let name = format!("{} {}.{}", if is_mariadb { "MariaDB" } else { "MySQL" }, series.0, series.1);
    if let Some((_, _, since)) = ENDED.iter().find(|row| is_it((row.0, row.1))) {
        return Value::Text(format!(
            "{name} has had no fixes of its maker since {since} (sealion's table of {CHECKED}); a distribution may still fix its own \
             package"
        ));
    }
    if SUPPORTED.iter().any(|row| is_it(*row)) {
        return Value::Absent;
    }
    Value::Unknown(format!("sealion's table of {CHECKED} does not have {name}: see what its maker says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_ended_is_supported_or_is_not_known() {
        let of = |version: &str| ended(&Capabilities::of(version, "", false));
        // Recorded greetings and servers that the lab runs.
        assert!(
            matches!(of("5.5.9"), Value::Text(why) if why.contains("MySQL 5.5") && why.contains("December 2018"))
        );
        assert!(matches!(of("10.5.29-MariaDB"), Value::Text(why) if why.contains("June 2025")));
        for version in ["10.11.19-MariaDB", "11.8.2-MariaDB", "9.7.4", "8.4.6"] {
            assert_eq!(of(version), Value::Absent, "{version}");
        }
        assert!(matches!(of("12.1.1-MariaDB"), Value::Unknown(why) if why.contains("MariaDB 12.1")));
    }

    #[test]
    fn no_series_is_both() {
        for row in SUPPORTED {
            assert!(ENDED.iter().all(|one| (one.0, one.1) != *row), "{row:?}");
        }
    }
}

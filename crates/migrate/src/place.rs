//! How far a server has written, or followed.

use std::fmt;

/// A place in a binary log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// As MariaDB has it: `0-1-1806`.
    Gtid(String),
    /// Of a MySQL server, whose GTIDs MariaDB does not follow by: the end of a transaction in one of its files.
    Log { file: String, at: u64 },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gtid(gtid) => f.write_str(gtid),
            Self::Log { file, at } => write!(f, "{file}:{at}"),
        }
    }
}

/// `bin.000012`: its base, and its number.
fn numbered(file: &str) -> Option<(&str, u64)> {
    let (base, number) = file.rsplit_once('.')?;
    Some((base, number.parse().ok()?))
}

/// Whether who is at `reached` of a binary log is at `wanted` or behind it. `None`: the files are not of one log.
pub(crate) fn is_at_or_behind(reached: (&str, u64), wanted: (&str, u64)) -> Option<bool> {
    let ((base, number), (other, wanted_number)) = (numbered(reached.0)?, numbered(wanted.0)?);
    (base == other).then_some((number, reached.1) >= (wanted_number, wanted.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_count_before_positions_and_only_in_one_log() {
        for (reached, wanted, is_so) in [
            (("bin.000002", 158), ("bin.000001", 9_000), Some(true)),
            (("bin.000001", 9_000), ("bin.000002", 158), Some(false)),
            (("bin.000002", 158), ("bin.000002", 158), Some(true)),
            (("bin.000002", 157), ("bin.000002", 158), Some(false)),
            (("bin.1000000", 4), ("bin.999999", 5), Some(true)),
            (("log.000002", 158), ("bin.000001", 4), None),
            (("", 158), ("bin.000001", 4), None),
            (("bin.x", 158), ("bin.000001", 4), None),
        ] {
            assert_eq!(is_at_or_behind(reached, wanted), is_so, "{reached:?} {wanted:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(one in ".{0,30}", other in "[a-z.0-9]{0,30}", at in any::<u64>()) {
            let _ = is_at_or_behind((&one, at), (&other, at));
        }
    }
}

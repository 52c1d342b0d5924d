//! Positions of MariaDB's binary log: `domain-server-sequence`, one a domain, with commas between.

use std::collections::BTreeMap;

/// The sequence of each domain; `None`: it is no position. An empty text is one: nothing was written.
///
/// # Source
/// MariaDB manual, Global Transaction ID.
fn sequences(text: &str) -> Option<BTreeMap<u32, u64>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let mut numbers = part.splitn(3, '-');
            let domain = numbers.next()?.parse().ok()?;
            numbers.next()?.parse::<u32>().ok()?;
            Some((domain, numbers.next()?.parse().ok()?))
        })
        .collect()
}

/// Whether who is at `written` has written all that who is at `seen` has seen of it. It has not where its binary log was begun anew.
/// `None`: that cannot be determined.
pub fn has_written(written: &str, seen: &str) -> Option<bool> {
    let (written, seen) = (sequences(written)?, sequences(seen)?);
    Some(seen.iter().all(|(domain, sequence)| written.get(domain).is_some_and(|known| known >= sequence)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_log_that_was_begun_anew_is_behind_what_was_seen_of_it() {
        for (written, seen, is_so) in [
            ("0-1-10", "0-1-10", Some(true)),
            ("0-2-11", "0-1-10", Some(true)),
            ("0-1-9", "0-1-10", Some(false)),
            ("", "0-1-10", Some(false)),
            ("0-1-3", "", Some(true)),
            ("", "", Some(true)),
            ("0-1-10,5-1-2", "5-9-2, 0-1-1", Some(true)),
            ("0-1-10", "0-1-10,1-1-1", Some(false)),
            ("0-1", "0-1-10", None),
            ("0-1-10", "x", None),
        ] {
            assert_eq!(has_written(written, seen), is_so, "{written} {seen}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(written in ".{0,40}", seen in "[0-9,-]{0,40}") {
            let _ = has_written(&written, &seen);
        }
    }
}

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

/// `last`, a position, without what that server has written: of a domain whose last is its, the last of another one in `state`, or
/// nothing. `None`: it is no position.
///
/// # Source
/// MariaDB manual, gtid_binlog_state: the last of each pair of domain and server.
pub fn without_server(last: &str, state: &str, server_id: u32) -> Option<String> {
    let parse = |text: &str| -> Option<Vec<(u32, u32, u64)>> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts
            .map(|part| {
                let mut numbers = part.splitn(3, '-');
                let domain = numbers.next()?.parse().ok()?;
                Some((domain, numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
            })
            .collect()
    };
    let (last, state) = (parse(last)?, parse(state)?);
    let own = |&(domain, server, sequence): &(u32, u32, u64)| {
        if server != server_id {
            return Some((domain, server, sequence));
        }
        let others = state.iter().filter(|(of, server, _)| *of == domain && *server != server_id);
        others.max_by_key(|(_, _, sequence)| *sequence).copied()
    };
    let left: Vec<String> = last
        .iter()
        .filter_map(own)
        .map(|(domain, server, sequence)| format!("{domain}-{server}-{sequence}"))
        .collect();
    Some(left.join(","))
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

    #[test]
    fn what_a_follower_has_written_itself_is_not_waited_for() {
        for (last, state, expected) in [
            ("0-1-10", "0-1-10,0-2-4", Some("0-1-10")),
            ("0-2-12", "0-1-10,0-2-12,0-7-3", Some("0-1-10")),
            ("0-2-12,5-1-3", "0-2-12,5-1-3", Some("5-1-3")),
            ("", "", Some("")),
            ("0-2", "", None),
        ] {
            assert_eq!(without_server(last, state, 2).as_deref(), expected, "{last} {state}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(written in ".{0,40}", seen in "[0-9,-]{0,40}") {
            let _ = has_written(&written, &seen);
            let _ = without_server(&seen, &written, 1);
        }
    }
}

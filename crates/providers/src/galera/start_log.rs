//! Where the last start of a server begins in its log.

/// The lines behind the beginning of the last start. `None`: the log cannot be read, or its end does not reach back so far, so that it says
/// nothing of that start.
///
/// # Source
/// Seen: MariaDB 10.11.19 begins a start with "Starting MariaDB", MySQL 8.0 and 9.7 with "starting as process".
pub fn last_start(tail: &[String]) -> Option<&[String]> {
    let begins = |line: &String| line.contains("Starting MariaDB") || line.contains("starting as process");
    tail.get(tail.iter().rposition(begins)? + 1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_start_is_not_the_last_one_and_none_is_not_an_empty_one() {
        let lines = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
        let tail = lines("[Note] Starting MariaDB 10.11|old|[Note] Starting MariaDB 10.11|new");
        assert_eq!(last_start(&tail), Some(&lines("new")[..]));
        let tail = lines("old|[System] /usr/sbin/mysqld (mysqld 9.7.4) starting as process 7");
        assert_eq!(last_start(&tail), Some(&[][..]));
        assert_eq!(last_start(&lines("a|b")), None);
        assert_eq!(last_start(&[]), None);
    }
}

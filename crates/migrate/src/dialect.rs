//! What the flavours say differently: where they are in their binary log, how they are closed, how they describe a table.

use net::{Client, NetError, Rows};

use crate::place::Place;

/// A server says so when it greets. MariaDB names itself there, unless its operator has given it another version text; such a server
/// refuses the first statement that is MySQL's.
pub(crate) fn is_mysql(client: &Client) -> bool {
    !client.server_version().to_ascii_lowercase().contains("mariadb")
}

/// Whether the two are of different flavours, so that each describes what is the same in its own words.
pub(crate) fn is_cross(one: &Client, other: &Client) -> bool {
    is_mysql(one) != is_mysql(other)
}

/// Everything that it follows.
pub(crate) fn channels(client: &mut Client) -> Result<Rows, NetError> {
    client.query(if is_mysql(client) { "SHOW REPLICA STATUS" } else { "SHOW ALL SLAVES STATUS" })
}

/// Its binary log, as it is written now.
pub(crate) fn log_status(client: &mut Client) -> Result<Rows, NetError> {
    // Source: MySQL manual, SHOW MASTER STATUS was removed in 8.4.
    client.query(if is_mysql(client) { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" })
}

/// Where its binary log ends now; `None`: it writes none, or does not say.
pub(crate) fn log_end(client: &mut Client) -> Result<Option<Place>, NetError> {
    let rows = log_status(client)?;
    let at = rows.text(0, "Position").and_then(|text| text.parse().ok());
    let file = rows.text(0, "File").filter(|file| !file.is_empty());
    Ok(file.zip(at).map(|(file, at)| Place::Log { file: file.into_owned(), at }))
}

/// Whether a MySQL server has written a transaction behind that place, or only what stands at the begin and the end of each file: a server
/// that is started goes on in a new one.
///
/// # Source
/// MySQL manual, SHOW BINLOG EVENTS. Seen: MySQL 9.7.4.
pub(crate) fn has_transaction_behind(client: &mut Client, place: (&str, u64)) -> Result<bool, NetError> {
    const AROUND: [&str; 4] = ["Format_desc", "Previous_gtids", "Rotate", "Stop"];
    // More than stand around; what there is beside them comes among these.
    const EVENTS: usize = 8;
    let rows = client.query("SHOW BINARY LOGS")?;
    let files = rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned));
    let mut behind = files.skip_while(|file| file != place.0).peekable();
    if behind.peek().is_none() {
        // Purged, or of another log.
        return Ok(true);
    }
    for file in behind {
        let from = if file == place.0 { format!(" FROM {}", place.1) } else { String::new() };
        let rows = client
            .query(&format!("SHOW BINLOG EVENTS IN {}{from} LIMIT {EVENTS}", net::sql_text::text(&file)))?;
        let mut kinds = (0..rows.len()).map(|row| rows.text(row, "Event_type").unwrap_or_default());
        if kinds.any(|kind| !AROUND.contains(&kind.as_ref())) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The variable that says whether nobody may write, whatever privileges he has, as far as the server can say so.
pub(crate) fn read_only(client: &Client) -> &'static str {
    if is_mysql(client) { "super_read_only" } else { "read_only" }
}

/// A definition of MySQL's as MariaDB takes it, or the part of it that MariaDB has no word for.
///
/// MySQL puts what older versions of its own do not know into comments with a version, and MariaDB passes over those of MySQL 5.7 and
/// newer without a word.
///
/// # Source
/// MariaDB manual, Comment Syntax: 50700 to 99999. MySQL manual, SHOW CREATE TABLE. Seen: MySQL 9.7.4, MariaDB 11.8.9.
pub(crate) fn for_mariadb(definition: &str) -> Result<String, String> {
    let mut out = String::with_capacity(definition.len());
    let mut rest = definition;
    let mut quoted_by = None;
    while let Some(one) = rest.chars().next() {
        let (head, tail) = rest.split_at(one.len_utf8());
        match quoted_by {
            // What follows a backslash is no end of a text; a quote that is doubled ends it and begins it anew.
            Some('\'') if one == '\\' => {
                let next = tail.chars().next().map_or(0, char::len_utf8);
                let (escaped, after) = tail.split_at(next);
                out.push_str(head);
                out.push_str(escaped);
                rest = after;
                continue;
            }
            Some(by) if by == one => quoted_by = None,
            None if one == '\'' || one == '`' => quoted_by = Some(one),
            None if rest.starts_with("/*!") => {
                let end = rest.find("*/").ok_or("a comment without an end")?;
                let (comment, after) = rest.split_at(end);
                out.push_str(versioned(comment.trim_start_matches("/*!").trim())?.as_str());
                rest = after.trim_start_matches("*/");
                continue;
            }
            _ => {}
        }
        out.push_str(head);
        rest = tail;
    }
    Ok(out)
}

/// A line of SHOW CREATE TABLE with `INVISIBLE` where all versions have it then.
///
/// # Source
/// Seen: MariaDB 10.11.19 tells it before DEFAULT, 11.8.9 behind it.
pub(crate) fn with_invisible_last(line: &str) -> String {
    const WORD: &str = " INVISIBLE";
    let mut quoted_by = None;
    let mut escaped = false;
    for (at, one) in line.char_indices() {
        match quoted_by {
            Some('\'') if escaped => escaped = false,
            Some('\'') if one == '\\' => escaped = true,
            Some(by) if by == one => quoted_by = None,
            None if one == '\'' || one == '`' => quoted_by = Some(one),
            None => {
                let (head, tail) = line.split_at(at);
                let Some(rest) =
                    tail.strip_prefix(WORD).filter(|rest| !rest.starts_with(char::is_alphanumeric))
                else {
                    continue;
                };
                let (rest, end) = rest.strip_suffix(',').map_or((rest, ""), |rest| (rest, ","));
                return format!("{head}{rest}{WORD}{end}");
            }
            Some(_) => {}
        }
    }
    line.to_owned()
}

/// What is in such a comment, as MariaDB says it.
fn versioned(comment: &str) -> Result<String, String> {
    /// From there on MariaDB passes over it.
    const NOT_READ_FROM: u32 = 50_700;
    let digits = comment.len() - comment.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    let (version, said) = comment.split_at(digits);
    let said = said.trim();
    Ok(match (version, said) {
        ("80023", "INVISIBLE") => "INVISIBLE".to_owned(),
        ("80000", "INVISIBLE") => "IGNORED".to_owned(),
        // By innodb_encrypt_tables there, which the preflight asks for.
        ("80016", "ENCRYPTION='Y'" | "ENCRYPTION='N'") => String::new(),
        _ if said.starts_with("TABLESPACE") || said.contains(" TABLESPACE ") => {
            return Err(format!("{said}: MariaDB has no general tablespaces"));
        }
        _ if version.parse().is_ok_and(|version: u32| version < NOT_READ_FROM) => {
            format!("/*!{version} {said} */")
        }
        _ => return Err(format!("{said}: MariaDB would leave it out without a word")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_invisible_column_is_the_same_wherever_a_version_says_so() {
        for (told, wanted) in [
            ("  `a` int(11) INVISIBLE DEFAULT 3,", "  `a` int(11) DEFAULT 3 INVISIBLE,"),
            ("  `a` int(11) DEFAULT 3 INVISIBLE,", "  `a` int(11) DEFAULT 3 INVISIBLE,"),
            ("  `a` int(11) INVISIBLE", "  `a` int(11) INVISIBLE"),
            (
                "  `a INVISIBLE b` int(11) COMMENT 'it''s \\' INVISIBLE x',",
                "  `a INVISIBLE b` int(11) COMMENT 'it''s \\' INVISIBLE x',",
            ),
            ("  `a` int(11) INVISIBLES,", "  `a` int(11) INVISIBLES,"),
        ] {
            assert_eq!(with_invisible_last(told), wanted);
        }
    }

    #[test]
    fn what_mariadb_would_pass_over_is_said_in_its_words_or_named() {
        for (mysql, mariadb) in [
            ("`v` int /*!80023 INVISIBLE */,", "`v` int INVISIBLE,"),
            ("KEY `iv` (`f`) /*!80000 INVISIBLE */", "KEY `iv` (`f`) IGNORED"),
            (") ENGINE=InnoDB /*!80016 ENCRYPTION='Y' */", ") ENGINE=InnoDB "),
            (
                "x\n/*!50100 PARTITION BY HASH (`a`)\nPARTITIONS 4 */",
                "x\n/*!50100 PARTITION BY HASH (`a`)\nPARTITIONS 4 */",
            ),
            ("COMMENT '/*!80023 INVISIBLE */ it''s \\' so'", "COMMENT '/*!80023 INVISIBLE */ it''s \\' so'"),
            ("`/*!80023 INVISIBLE */` int", "`/*!80023 INVISIBLE */` int"),
            ("COMMENT 'äöü \\\\' /*!80023 INVISIBLE */", "COMMENT 'äöü \\\\' INVISIBLE"),
        ] {
            assert_eq!(for_mariadb(mysql).as_deref(), Ok(mariadb), "{mysql}");
        }
        for (mysql, named) in [
            ("CHECK (1) /*!80016 NOT ENFORCED */", "NOT ENFORCED"),
            ("`p` point /*!80003 SRID 4326 */", "SRID 4326"),
            ("/*!50100 TABLESPACE `ts` */", "TABLESPACE `ts`"),
            ("x /*!80016", "without an end"),
        ] {
            let refused = for_mariadb(mysql);
            assert!(refused.as_ref().is_err_and(|why| why.contains(named)), "{mysql}: {refused:?}");
        }
    }

    proptest! {
        #[test]
        fn no_definition_panics_and_texts_stay(text in "[ -~äö`'\\\\/*!80]{0,60}", quoted in "[a-z/*! 0-9]{0,20}") {
            let _ = for_mariadb(&text);
            let definition = format!("CREATE TABLE `t` (`a` int COMMENT '{quoted}')");
            prop_assert_eq!(for_mariadb(&definition), Ok(definition.clone()));
        }
    }
}

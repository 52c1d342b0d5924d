//! What a query wants to hear. Drivers ask a server for its settings before they hand a connection out, and one that gets
//! a page of prose in place of a number gives up: then the honest case would look like a refusal.

/// The kinds of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryAnswer {
    /// One row: names of columns with their values.
    Settings(Vec<(String, String)>),
    /// Rows: what a person who connects by hand reads.
    Page,
    /// A list, and there is nothing in it.
    Nothing,
    /// No rows.
    Done,
    /// What a server does not know.
    Unknown,
}

/// Of a list of settings, so many are answered; Connector/J asks for some thirty.
const SETTINGS_MAX: usize = 100;

/// Source: the start-up queries of the drivers of `clients/`, and their defaults in MariaDB 10.11. What is not here is 0.
const SETTINGS: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("autocommit", "1"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("collation_database", "utf8mb4_general_ci"),
    ("collation_server", "utf8mb4_general_ci"),
    ("init_connect", ""),
    ("interactive_timeout", "28800"),
    ("license", "GPL"),
    ("max_allowed_packet", "16777216"),
    ("net_buffer_length", "16384"),
    ("net_write_timeout", "60"),
    ("query_cache_type", "OFF"),
    ("socket", ""),
    ("sql_mode", "STRICT_TRANS_TABLES"),
    ("system_time_zone", "UTC"),
    ("time_zone", "SYSTEM"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("version_comment", "sealion's rogue server"),
    ("wait_timeout", "28800"),
];

/// Reads as much of a query as it takes to answer it.
pub fn asked(sql: &[u8], version: &str) -> QueryAnswer {
    let text = String::from_utf8_lossy(sql);
    let text = bare(&text);
    let word: String =
        text.chars().take_while(char::is_ascii_alphabetic).map(|char| char.to_ascii_uppercase()).collect();
    let rest = text.get(word.len()..).unwrap_or_default().trim();
    match word.as_str() {
        // Seen: mysql 9.7.4 asks this first, expects to be told that it is unknown, and does not fetch an answer.
        "SELECT" if rest == "$$" => QueryAnswer::Unknown,
        // Seen: mysqldump 9.7.4 and mariadb-dump 10.11.19 read columns that a page has not got, and end with SIGSEGV.
        "SELECT" if rest.to_ascii_lowercase().contains("information_schema") => QueryAnswer::Nothing,
        "SHOW" | "DESCRIBE" | "DESC" => QueryAnswer::Nothing,
        "SELECT" => settings(rest, version).map_or(QueryAnswer::Page, QueryAnswer::Settings),
        "WITH" | "TABLE" => QueryAnswer::Page,
        _ => QueryAnswer::Done,
    }
}

/// Without comments and brackets in front. What stands in `/*!40103 … */` is no comment.
fn bare(text: &str) -> &str {
    let mut text = text.trim_start_matches(|char: char| char.is_whitespace() || char == '(');
    while let Some(comment) = text.strip_prefix("/*") {
        text = match comment.strip_prefix('!') {
            Some(inside) => inside.trim_start_matches(|char: char| char.is_ascii_digit()),
            None => comment.split_once("*/").map_or("", |(_, behind)| behind),
        }
        .trim_start();
    }
    text.trim_end().trim_end_matches([';', '\0'])
}

/// `None` where anything else than settings is wanted.
fn settings(list: &str, version: &str) -> Option<Vec<(String, String)>> {
    let end = list.to_ascii_lowercase().rfind(" limit ").unwrap_or(list.len());
    let list = list.get(..end)?;
    let items = list.split(',').take(SETTINGS_MAX).map(|item| setting(item.trim(), version));
    items.collect()
}

fn setting(item: &str, version: &str) -> Option<(String, String)> {
    let mut words = item.split_whitespace();
    let asked = words.next()?;
    let name = match (words.next(), words.next(), words.next()) {
        (None, ..) => asked,
        (Some(name), None, _) => name,
        (Some(word), Some(name), None) if word.eq_ignore_ascii_case("as") => name,
        _ => return None,
    };
    let lower = asked.to_ascii_lowercase();
    if lower == "version()" || lower == "@@version" {
        return Some((name.into(), version.into()));
    }
    let key = lower.strip_prefix("@@")?;
    let key = key.strip_prefix("session.").or_else(|| key.strip_prefix("global.")).unwrap_or(key);
    let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = SETTINGS.iter().find(|(known, _)| *known == key).map_or("0", |(_, value)| value);
    is_name.then(|| (name.trim_matches('`').to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, wanted: &QueryAnswer) {
        assert_eq!(asked(sql.as_bytes(), "10.11.19-MariaDB"), *wanted, "{sql}");
    }

    fn row(pairs: &[(&str, &str)]) -> QueryAnswer {
        QueryAnswer::Settings(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    #[test]
    fn drivers_hear_what_they_ask_for_when_they_start() {
        // mysql and mysql_async of Rust, MariaDB Connector/J.
        check(
            "SELECT @@max_allowed_packet,@@wait_timeout",
            &row(&[("@@max_allowed_packet", "16777216"), ("@@wait_timeout", "28800")]),
        );
        // Connector/J.
        check(
            "/* mysql-connector-java-5.1.49 ( Revision: ad86f36 ) */SELECT  @@session.auto_increment_increment AS \
             auto_increment_increment, @@tx_isolation AS tx_isolation",
            &row(&[("auto_increment_increment", "1"), ("tx_isolation", "REPEATABLE-READ")]),
        );
        // Tools.
        check("select @@version_comment limit 1", &row(&[("@@version_comment", "sealion's rogue server")]));
        check("SELECT VERSION()", &row(&[("VERSION()", "10.11.19-MariaDB")]));
        check("SELECT @@global.something_new x;", &row(&[("x", "0")]));
        check("select $$", &QueryAnswer::Unknown);
        check("/*!40103 SET TIME_ZONE='+00:00' */", &QueryAnswer::Done);
        check("/*!50700 SELECT @@autocommit", &row(&[("@@autocommit", "1")]));
    }

    #[test]
    fn people_read_a_page() {
        for sql in [
            "SELECT 1",
            "(select 1)",
            " TABLE t",
            "SELECT @@a, 1",
            "SELECT @@a + 1",
            "SELECT @@",
            "select @@a b c d",
        ] {
            check(sql, &QueryAnswer::Page);
        }
        for sql in ["", "SET NAMES utf8mb4", "/*", "/* never ended", "/*!", "COMMIT", "\u{e9}"] {
            check(sql, &QueryAnswer::Done);
        }
        for sql in ["show tables", "SELECT a, b FROM INFORMATION_SCHEMA.FILES", "DESC t"] {
            check(sql, &QueryAnswer::Nothing);
        }
        assert_eq!(asked(b"\xff\xfe\xfd", ""), QueryAnswer::Done);
    }
}

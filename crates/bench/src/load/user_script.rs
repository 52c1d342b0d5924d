//! Statements of the user's own: a script with places that are filled anew each time, and a server's general log.
//!
//! Bytes in, templates out; who reads files is the caller.

use std::io::Write as _;

use super::random::Distribution;
use super::workload::{Kind, Options};

/// Of a file with statements.
pub const FILE_BYTES_MAX: usize = 64 << 20;
/// Of one statement; servers take 16 MiB at most unless they are told otherwise.
const STATEMENT_BYTES_MAX: usize = 1 << 20;
const STATEMENTS_MAX: usize = 100_000;
/// Of one `{digits:N}`.
const DIGITS_MAX: usize = 4096;

/// A file as text in which each character stands for a byte: statements are bytes, in whatever character set, and are sent as
/// they are.
pub fn text_of(file: &[u8]) -> String {
    file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file).iter().map(|byte| char::from(*byte)).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    // Characters above a byte come from no file: [`text_of`] makes none.
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

/// What a file has that is no statement, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct OwnError {
    /// From 1.
    pub line: usize,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// As the workloads draw one.
    Id,
    /// The number of a table, the same in the whole event.
    Table,
    /// Evenly, both ends included.
    Int(i64, i64),
    Digits(usize),
}

/// One statement, with its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
    pub kind: Kind,
    /// How often it comes beside the others of a mix; 1 where each is counted as it stands.
    pub weight: u64,
}

impl Template {
    /// Text without places.
    pub fn plain(sql: &str) -> Self {
        Self { parts: vec![Part::Text(bytes(sql))], kind: kind(sql), weight: 1 }
    }

    fn parse(sql: &str, line: usize) -> Result<Self, OwnError> {
        let fail = |why: String| OwnError { line, why };
        let mut parts = Vec::new();
        let mut text = Vec::new();
        let mut rest = sql;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            text.extend_from_slice(&bytes(before));
            if let Some(doubled) = after.strip_prefix("{{").or_else(|| after.strip_prefix("}}")) {
                text.push(after.as_bytes().first().copied().unwrap_or_default());
                rest = doubled;
                continue;
            }
            let place = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, behind)) = place else {
                return Err(fail("a single brace; write {{ and }} for braces of the statement".into()));
            };
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part(name).map_err(fail)?);
            rest = behind;
        }
        text.extend_from_slice(&bytes(rest));
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self { parts, kind: kind(sql), weight: 1 })
    }

    /// Its text, with places as `{}`.
    pub fn shown(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => "{}".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }

    /// Appends the statement, its places filled. `table` counts from 0.
    pub fn write(&self, options: &Options, table: u32, random: &mut fastrand::Rng, out: &mut Vec<u8>) {
        let distribution: Distribution = options.distribution;
        for part in &self.parts {
            // Writing into a Vec cannot fail.
            let _ = match part {
                Part::Text(text) => {
                    out.extend_from_slice(text);
                    Ok(())
                }
                Part::Id => write!(out, "{}", distribution.draw(random, 1, options.table_size.max(1))),
                Part::Table => write!(out, "{}", table + 1),
                Part::Int(first, last) => write!(out, "{}", random.i64(*first..=*last)),
                Part::Digits(count) => {
                    let from = out.len();
                    out.resize(from + count, b'0');
                    for byte in out.get_mut(from..).unwrap_or_default() {
                        *byte = random.u8(b'0'..=b'9');
                    }
                    Ok(())
                }
            };
        }
    }
}

fn part(name: &str) -> Result<Part, String> {
    let known = "placeholders are {id}, {table}, {int:FROM..TO} and {digits:N}";
    match name.split_once(':') {
        None if name == "id" => Ok(Part::Id),
        None if name == "table" => Ok(Part::Table),
        Some(("digits", count)) => match count.parse() {
            Ok(count @ 1..=DIGITS_MAX) => Ok(Part::Digits(count)),
            _ => Err(format!("{{digits:N}} needs a number from 1 to {DIGITS_MAX}")),
        },
        Some(("int", range)) => {
            let ends =
                range.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
            match ends {
                Some((from, to)) if from <= to => Ok(Part::Int(from, to)),
                _ => Err("{int:FROM..TO} needs two numbers, the smaller one first".into()),
            }
        }
        _ => Err(format!("unknown placeholder \"{}\": {known}", wire::printable(name))),
    }
}

/// By its first words. What is not known to read is taken for a write: nobody's data is changed by mistake. A function that a
/// SELECT calls may write all the same.
fn kind(sql: &str) -> Kind {
    // What writes a file, a variable or a sequence, or locks.
    const MORE_THAN_READS: &[&str] =
        &["INTO", "FOR UPDATE", "FOR SHARE", "LOCK IN", "NEXTVAL", "SETVAL", "NEXT VALUE", "GET_LOCK"];
    const CHANGES: &[&str] = &["UPDATE", "DELETE", "INSERT", "REPLACE"];
    let text = without_remarks(sql).to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let first = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    match (first, text.split_whitespace().nth(1)) {
        ("SELECT" | "TABLE" | "VALUES", _) if !has(MORE_THAN_READS) => Kind::Read,
        // It may stand in front of anything.
        ("WITH", _) if !has(MORE_THAN_READS) && !has(CHANGES) => Kind::Read,
        ("SHOW" | "DESCRIBE" | "DESC" | "EXPLAIN", _) if !has(&["ANALYZE"]) => Kind::Read,
        ("BEGIN", None | Some("WORK"))
        | ("START", Some("TRANSACTION"))
        | ("COMMIT" | "ROLLBACK" | "USE", _) => Kind::Other,
        _ => Kind::Write,
    }
}

/// With one space for each remark and each run of white space. What stands in `/*! … */` is no remark for a server.
fn without_remarks(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find("/*") {
        let (before, remark) = rest.split_at(at);
        out.push_str(before);
        out.push(' ');
        let is_code = remark.starts_with("/*!") || remark.starts_with("/*M!");
        let Some(end) = remark.find("*/") else {
            rest = "";
            break;
        };
        if is_code {
            out.push_str(remark.get(..end).unwrap_or_default());
            out.push(' ');
        }
        rest = remark.get(end + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Statements end with a `;` at the end of a line. Lines that begin with `--` or `#` are remarks.
///
/// # Errors
/// A place that is none, a statement that is too long, none at all.
pub fn script(text: &str) -> Result<Vec<Template>, OwnError> {
    let (mut found, mut statement, mut since) = (Vec::new(), String::new(), 1);
    let mut lines = 0;
    for (at, line) in text.lines().enumerate() {
        lines = at + 1;
        if statement.is_empty() && (line.trim().is_empty() || line.starts_with("--") || line.starts_with('#'))
        {
            continue;
        }
        if statement.is_empty() {
            since = at + 1;
        } else {
            statement.push('\n');
        }
        let end = line.trim_end();
        statement.push_str(end.strip_suffix(';').unwrap_or(end));
        if statement.len() > STATEMENT_BYTES_MAX {
            return Err(OwnError {
                line: since,
                why: format!("a statement is longer than {STATEMENT_BYTES_MAX} bytes"),
            });
        }
        if end.ends_with(';') {
            found.push(Template::parse(statement.trim(), since)?);
            statement.clear();
        }
        if found.len() > STATEMENTS_MAX {
            return Err(OwnError {
                line: since,
                why: format!("there are more than {STATEMENTS_MAX} statements"),
            });
        }
    }
    if !statement.trim().is_empty() {
        found.push(Template::parse(statement.trim(), since)?);
    }
    if found.is_empty() {
        return Err(OwnError { line: lines.max(1), why: "it contains no statement".into() });
    }
    Ok(found)
}

/// The statements of a general query log (`general_log`), of MySQL and of MariaDB; and how many lines of it were something else.
///
/// # Source
/// MySQL manual 7.4.3: time, thread id, command, a tab, argument; MariaDB leaves the time out where it is that of the line before.
///
/// # Errors
/// None is in it, or too many.
pub fn general_log(text: &str) -> Result<(Vec<Template>, usize), OwnError> {
    let mut found: Vec<Template> = Vec::new();
    let mut open: Option<String> = None;
    let mut others = 0;
    // How many are left out: none, or the open one, for its size.
    let mut close = |open: &mut Option<String>, line: usize| -> Result<usize, OwnError> {
        if let Some(sql) = open.take() {
            if found.len() >= STATEMENTS_MAX {
                return Err(OwnError {
                    line,
                    why: format!("there are more than {STATEMENTS_MAX} statements"),
                });
            }
            if sql.trim().is_empty() || sql.len() > STATEMENT_BYTES_MAX {
                return Ok(1);
            }
            found.push(Template::plain(sql.trim()));
        }
        Ok(0)
    };
    let mut lines = 0;
    for (at, line) in text.lines().enumerate() {
        lines = at + 1;
        match log_entry(line) {
            Some((command, argument)) => {
                others += close(&mut open, at + 1)?;
                if command == "Query" || command == "Execute" {
                    open = Some(argument.to_owned());
                } else {
                    others += 1;
                }
            }
            // A statement of several lines goes on.
            None => match &mut open {
                Some(sql) if sql.len() <= STATEMENT_BYTES_MAX => {
                    sql.push('\n');
                    sql.push_str(line);
                }
                Some(_) => {}
                None => others += 1,
            },
        }
    }
    others += close(&mut open, lines)?;
    if found.is_empty() {
        return Err(OwnError {
            line: lines.max(1),
            why: "it contains no statement of a general query log".into(),
        });
    }
    Ok((found, others))
}

/// Does a place for a parameter stand in it, outside of quotes and remarks? What a server shows of a prepared statement has them.
pub fn has_parameters(sql: &str) -> bool {
    let text = without_remarks(sql);
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None if c == '?' => return true,
            None => {}
        }
    }
    false
}

/// Command and argument of a line that begins an entry.
fn log_entry(line: &str) -> Option<(&str, &str)> {
    let (head, argument) = line.rsplit_once('\t').map_or((line, ""), |_| {
        // The argument may hold tabs: it begins behind the command.
        let at = line.find(|c: char| c.is_ascii_alphabetic() && c != 'T' && c != 'Z').unwrap_or(line.len());
        let behind = line.get(at..).and_then(|rest| rest.find('\t')).map_or(line.len(), |tab| at + tab);
        (line.get(..behind).unwrap_or(line), line.get(behind + 1..).unwrap_or_default())
    });
    let mut words = head.split_whitespace().rev();
    let mut command = words.next()?;
    let mut id = words.next()?;
    // "Init DB", "Close stmt", "Binlog Dump": commands of two words.
    if id.parse::<u64>().is_err() {
        command = id;
        id = words.next()?;
    }
    id.parse::<u64>().ok()?;
    let is_time = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b":-.TZ+".contains(&byte));
    (words.all(is_time) && command.chars().all(|c| c.is_ascii_alphabetic())).then_some((command, argument))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(template: &Template, seed: u64) -> String {
        let options = Options { tables: 4, table_size: 50, ..Options::default() };
        let mut out = Vec::new();
        template.write(&options, 2, &mut fastrand::Rng::with_seed(seed), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_parameter_is_a_question_mark_outside_of_quotes() {
        for with in ["SELECT c FROM t WHERE id=?", "SELECT 'it''s' , ?", "SELECT \"a\\\"b\", ?"] {
            assert!(has_parameters(with), "{with}");
        }
        for without in [
            "SELECT 'why?'",
            "SELECT 1 /* ? */",
            "SELECT `a?` FROM t",
            "SELECT 'it\\'s?'",
            "SELECT 'a''?'",
            "",
        ] {
            assert!(!has_parameters(without), "{without}");
        }
    }

    #[test]
    fn a_script_is_read_and_its_places_are_filled() {
        let text = "-- a shop\nSELECT *\n  FROM t{table}\n WHERE id = {id};\n\n# and\nINSERT INTO log VALUES ('{digits:5}', {int:-3..3}, '{{}}');\nCOMMIT";
        let all = script(text).unwrap();
        assert_eq!(
            all.iter().map(|one| one.kind).collect::<Vec<_>>(),
            [Kind::Read, Kind::Write, Kind::Other]
        );
        for seed in 0..200 {
            let select = written(&all[0], seed);
            let id: u32 = select.strip_prefix("SELECT *\n  FROM t3\n WHERE id = ").unwrap().parse().unwrap();
            assert!((1..=50).contains(&id));
            let insert = written(&all[1], seed);
            let inner = insert.strip_prefix("INSERT INTO log VALUES ('").unwrap();
            assert!(inner[..5].bytes().all(|byte| byte.is_ascii_digit()), "{insert}");
            assert!(insert.ends_with(", '{}')"), "{insert}");
        }
        assert_eq!(written(&all[2], 1), "COMMIT");
    }

    #[test]
    fn what_is_no_place_is_told_with_its_line() {
        for (text, line, why) in [
            ("SELECT 1;\n\nSELECT {name};", 3, "unknown placeholder"),
            ("SELECT {id", 1, "single brace"),
            ("SELECT }", 1, "single brace"),
            ("SELECT {int:5..1};", 1, "smaller"),
            ("SELECT {digits:0};", 1, "1 to 4096"),
            ("-- nothing\n", 1, "no statement"),
            ("", 1, "no statement"),
        ] {
            let error = script(text).unwrap_err();
            assert!(error.line == line && error.why.contains(why), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_may_write_is_never_taken_for_a_read() {
        for sql in [
            "update t set a=1",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "SELECT * FROM t FOR UPDATE",
            "CALL p()",
            "/* hidden */ DELETE FROM t",
            "(SELECT 1)",
            "EXPLAIN ANALYZE DELETE FROM t",
            "SET GLOBAL x=1",
            "WITH a AS (SELECT 1) SELECT * FROM a INTO @x",
            "with a as (select 1) delete from t",
            "SELECT 1 /*! INTO OUTFILE 'x' */",
            "BEGIN NOT ATOMIC DELETE FROM t; END",
            "DO SETVAL(s, 1)",
            "START SLAVE",
            "SELECT a FROM t FOR  UPDATE",
            "SELECT a FROM t FOR\nUPDATE",
            "SELECT a FROM t FOR /**/ UPDATE",
            "SELECT a FROM t LOCK IN SHARE MODE",
            "SELECT NEXTVAL(s)",
            "/*!50000 DELETE FROM t */",
        ] {
            assert_eq!(Template::plain(sql).kind, Kind::Write, "{sql}");
        }
        for sql in [
            "  select 1",
            "SELECT(1)",
            "select'a'",
            "/* why */ SELECT\t1",
            "SHOW TABLES",
            "WITH a AS (SELECT 1) SELECT * FROM a",
        ] {
            assert_eq!(Template::plain(sql).kind, Kind::Read, "{sql}");
        }
        for sql in ["BEGIN", "begin work", "START TRANSACTION READ ONLY", "COMMIT", "ROLLBACK", "USE shop"] {
            assert_eq!(Template::plain(sql).kind, Kind::Other, "{sql}");
        }
    }

    #[test]
    fn bytes_of_any_character_set_stay_as_they_are() {
        let file = b"\xef\xbb\xbfINSERT INTO t VALUES (_binary'\xe4\xff\x00a', {int:1..1});\n";
        let all = script(&text_of(file)).unwrap();
        let mut out = Vec::new();
        all[0].write(&Options::default(), 0, &mut fastrand::Rng::with_seed(1), &mut out);
        assert_eq!(out, b"INSERT INTO t VALUES (_binary'\xe4\xff\x00a', 1)");
    }

    #[test]
    fn general_logs_of_both_families_are_read() {
        let mysql = "/usr/sbin/mysqld, Version: 9.7.0 (MySQL Community Server). started with:\nTcp port: 3306  Unix socket: s\n\
                     Time                 Id Command    Argument\n\
                     2026-11-21T10:00:00.123456Z\t    8 Connect\tapp@localhost on shop using TCP/IP\n\
                     2026-11-21T10:00:00.223456Z\t    8 Query\tSELECT a,\n\tb FROM t\n\
                     2026-11-21T10:00:00.323456Z\t    8 Init DB\tshop\n\
                     2026-11-21T10:00:00.423456Z\t    8 Execute\tUPDATE t SET a=1 WHERE id=2\n\
                     2026-11-21T10:00:00.523456Z\t    8 Quit\t\n";
        let (found, others) = general_log(mysql).unwrap();
        assert_eq!(
            found.iter().map(|one| written(one, 0)).collect::<Vec<_>>(),
            ["SELECT a,\n\tb FROM t", "UPDATE t SET a=1 WHERE id=2"]
        );
        assert_eq!(others, 6);
        let mariadb = "Time\t\t    Id Command\tArgument\n261121 10:00:00\t     5 Connect\troot@localhost on  using Socket\n\
                       \t\t     5 Query\tselect @@version_comment limit 1\n261121 10:00:01\t     5 Query\tINSERT INTO t VALUES ('{x}')\n\
                       \t\t     5 Quit\t\n";
        let (found, _) = general_log(mariadb).unwrap();
        assert_eq!(
            found.iter().map(|one| written(one, 0)).collect::<Vec<_>>(),
            ["select @@version_comment limit 1", "INSERT INTO t VALUES ('{x}')"]
        );
        assert!(general_log("hello\nworld").is_err());
        // What is too long for a statement is left out, and counted.
        let long =
            format!("261121 10:00:00\t 5 Query\tDO 1\n\t\t 5 Query\tSELECT '{}'\n", "x".repeat(1 << 20));
        assert_eq!(general_log(&long).map(|(found, others)| (found.len(), others)), Ok((1, 1)));
    }

    proptest! {
        #[test]
        fn nothing_that_is_read_panics(text in "[ -~\n\t{}:.;0-9]{0,200}") {
            if let Ok(all) = script(&text) {
                for one in &all {
                    written(one, 3);
                }
            }
            let _ = general_log(&text);
        }
    }
}

//! The mix of statements that a server has counted: `performance_schema.events_statements_summary_by_digest`.
//!
//! A digest has `?` where values were, so it cannot be sent. What is sent is a sample of it, as often as the digest was
//! counted: MySQL 8.0 keeps one with each digest (`QUERY_SAMPLE_TEXT`), MariaDB has those that are in the histories of
//! statements. A digest without a sample that can be sent is left out, and said.

use std::collections::HashMap;

use ::bench::load::user_script::{self, Template};
use ::bench::load::workload::Kind;
use net::{Client, ConnectOptions, NetError};

use super::{UserStatements, cannot_begin};
use site::OpsError;

/// More are not asked for: the rarest are left out by the server's own limit (`performance_schema_digests_size`) long before.
const DIGESTS_MAX: usize = 20_000;
/// `performance_schema_max_sql_text_length` when nobody says otherwise. What was cut ends with these.
const CUT: &str = "...";
const CUT_BYTES: usize = 1024;

/// Why a digest has no part in the mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Sample,
    Values,
    End,
    Place,
}

impl Without {
    const ALL: [Self; 4] = [Self::Sample, Self::Values, Self::End, Self::Place];

    fn text(self) -> &'static str {
        match self {
            Self::Sample => "the server has no sample of them",
            Self::Values => "they were prepared, and their values are not stored",
            Self::End => "their text was cut (performance_schema_max_sql_text_length)",
            Self::Place => "they begin, end or set something, which means nothing without its order",
        }
    }
}

/// A mix, and what was left out of it, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    pub own: UserStatements,
    /// Statements that the server has counted and that the mix is of; and all.
    pub covered: u64,
    pub counted: u64,
    pub left_out: Vec<String>,
}

struct Digest {
    count: u64,
    text: String,
    sample: Option<String>,
}

/// Reads what the server has counted in this schema since it began, or since the table was emptied.
///
/// # Errors
/// It counts nothing, keeps no sample, or may not be asked.
pub fn read(target: &ConnectOptions, schema: &str) -> Result<Digests, OpsError> {
    ::bench::load::tables::check_name(schema).map_err(super::of_tables)?;
    let mut client = Client::connect(target).map_err(cannot_begin)?;
    let (found, together) = digests(&mut client, schema).map_err(|error| {
        OpsError::cannot_look(
            "cannot read the statement digests of the server",
            error.in_one_line(),
            "GRANT SELECT ON performance_schema.* to the account; or use a general log: --replay FILE",
        )
    })?;
    let _ = client.quit();
    let mut mix = mix(&found, schema)?;
    if together > 0 {
        mix.left_out.push(format!(
            "{together} statements of all schemas that the server counted together, because there was no space for \
             their digests (performance_schema_digests_size)"
        ));
    }
    Ok(mix)
}

fn text(cell: Option<&Option<Vec<u8>>>) -> Option<String> {
    // A character for each byte: statements are bytes in whatever character set.
    cell.and_then(Option::as_ref).map(|bytes| user_script::text_of(bytes))
}

/// And how many the server has counted without a digest of their own.
fn digests(client: &mut Client, schema: &str) -> Result<(Vec<Digest>, u64), NetError> {
    const TABLE: &str = "performance_schema.events_statements_summary_by_digest";
    let has_samples =
        !client.query(&format!("SHOW COLUMNS FROM {TABLE} LIKE 'QUERY_SAMPLE_TEXT'"))?.is_empty();
    let column = if has_samples { "QUERY_SAMPLE_TEXT" } else { "NULL" };
    let sql = format!(
        "SELECT COUNT_STAR, DIGEST_TEXT, {column}, DIGEST FROM {TABLE} WHERE SCHEMA_NAME='{schema}' AND DIGEST IS NOT NULL \
         ORDER BY COUNT_STAR DESC LIMIT {DIGESTS_MAX}"
    );
    let rows = client.query(&sql)?.rows;
    let together = client.query(&format!("SELECT SUM(COUNT_STAR) FROM {TABLE} WHERE DIGEST IS NULL"))?;
    let together = together.scalar().and_then(|count| count.parse().ok()).unwrap_or(0);
    let mut samples = HashMap::new();
    if !has_samples {
        for history in ["events_statements_history_long", "events_statements_history"] {
            let sql = format!(
                "SELECT DIGEST, SQL_TEXT FROM performance_schema.{history} WHERE CURRENT_SCHEMA='{schema}' AND SQL_TEXT IS NOT NULL"
            );
            for row in client.query(&sql)?.rows {
                if let (Some(digest), Some(sample)) = (text(row.first()), text(row.get(1))) {
                    samples.insert(digest, sample);
                }
            }
        }
    }
    let of = |row: &Vec<Option<Vec<u8>>>| Digest {
        count: text(row.first()).and_then(|count| count.parse().ok()).unwrap_or(0),
        text: text(row.get(1)).unwrap_or_default(),
        sample: text(row.get(2)).or_else(|| samples.get(&text(row.get(3))?).cloned()),
    };
    Ok((rows.iter().map(of).collect(), together))
}

fn sample_of(digest: &Digest) -> Result<Template, Without> {
    let sample =
        digest.sample.as_deref().map(str::trim).filter(|sample| !sample.is_empty()).ok_or(Without::Sample)?;
    // MySQL 9 counts what was prepared, and what was executed, each with a word of its own before it.
    let is_prepared = ["PREPARE ", "EXECUTE "].iter().any(|word| digest.text.starts_with(word));
    if user_script::has_parameters(sample) || is_prepared {
        return Err(Without::Values);
    }
    if sample.len() >= CUT_BYTES - CUT.len() && sample.ends_with(CUT) {
        return Err(Without::End);
    }
    let mut template = Template::plain(sample);
    template.weight = digest.count;
    let first =
        sample.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_uppercase();
    if template.kind == Kind::Other
        || ["SET", "SAVEPOINT", "RELEASE", "LOCK", "UNLOCK"].contains(&first.as_str())
    {
        return Err(Without::Place);
    }
    Ok(template)
}

fn mix(found: &[Digest], schema: &str) -> Result<Digests, OpsError> {
    let counted = found.iter().map(|digest| digest.count).sum::<u64>();
    if counted == 0 {
        return Err(OpsError::cannot_look(
            format!("the server has counted no statement in the schema {schema}"),
            "performance_schema is off, its consumer statements_digest is off, or no statement was run since the \
             server started",
            "SHOW VARIABLES LIKE 'performance_schema'; let the application run for a while; or use a general log: \
             --replay FILE",
        ));
    }
    let mut templates = Vec::new();
    let mut without = Without::ALL.map(|why| (why, 0, 0_u64));
    for digest in found {
        match sample_of(digest) {
            Ok(template) => templates.push(template),
            Err(why) => {
                for (_, digests, count) in without.iter_mut().filter(|(of, ..)| *of == why) {
                    *digests += 1;
                    *count += digest.count;
                }
            }
        }
    }
    let share = |count: u64| count as f64 / counted as f64 * 100.0;
    let left_out: Vec<String> = without
        .iter()
        .filter(|(_, digests, _)| *digests > 0)
        .map(|(why, digests, count)| {
            format!(
                "{:.1} % of all statements ({digests} of {} digests): {}",
                share(*count),
                found.len(),
                why.text()
            )
        })
        .collect();
    if templates.is_empty() {
        return Err(OpsError::cannot_look(
            format!("no statement of the schema {schema} can be sent again"),
            left_out.join("; "),
            "MySQL stores samples itself; on MariaDB: UPDATE performance_schema.setup_consumers SET ENABLED='YES' \
             WHERE NAME LIKE 'events_statements_%', and let the application run; or use a general log: --replay FILE",
        ));
    }
    let covered = templates.iter().map(|one| one.weight).sum();
    Ok(Digests { own: UserStatements::Mix(templates), covered, counted, left_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(count: u64, text: &str, sample: Option<&str>) -> Digest {
        Digest { count, text: text.into(), sample: sample.map(str::to_owned) }
    }

    #[test]
    fn what_cannot_be_sent_is_left_out_and_said() {
        let long = format!("SELECT '{}...", "x".repeat(CUT_BYTES));
        let found = vec![
            digest(60, "SELECT ?", Some("SELECT 5")),
            digest(10, "SELECT ? FROM `t`", Some("SELECT 'why?' FROM t")),
            digest(15, "SELECT `a` WHERE `id` = ?", None),
            digest(8, "EXECUTE SELECT `c` WHERE `id` = ?", Some("SELECT c WHERE id=?")),
            digest(4, "SELECT ?", Some(&long)),
            digest(2, "COMMIT", Some("COMMIT")),
            digest(1, "SET NAMES `utf8`", Some("SET NAMES utf8")),
        ];
        let seen = mix(&found, "shop").expect("two can be sent");
        let UserStatements::Mix(templates) = &seen.own else { panic!("{seen:?}") };
        let sent: Vec<_> = templates.iter().map(|one| (one.shown(), one.weight)).collect();
        assert_eq!(sent, [("SELECT 5".to_owned(), 60), ("SELECT 'why?' FROM t".to_owned(), 10)]);
        assert_eq!((seen.covered, seen.counted), (70, 100));
        let said = seen.left_out.join("\n");
        for part in [
            "15.0 % of all statements (1 of 7",
            "8.0 % of all",
            "4.0 % of all",
            "3.0 % of all statements (2 of 7",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn nothing_to_send_is_an_error_that_says_what_to_do() {
        let none = mix(&[], "shop").expect_err("nothing was counted").to_string();
        assert!(none.contains("shop") && none.contains("performance_schema"), "{none}");
        let bare = mix(&[digest(3, "SELECT ?", None)], "shop").expect_err("no sample").to_string();
        assert!(bare.contains("setup_consumers") && bare.contains("100.0 %"), "{bare}");
    }
}

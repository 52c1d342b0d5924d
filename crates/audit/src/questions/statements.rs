//! Shapes of statements that speak for an injection, by the digests that the server keeps. They have no values.

use std::collections::BTreeMap;

use model::facts::statement;
use model::{Fact, Value};
use net::Rows;

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;
use crate::statements::{Sign, signs};

pub const QUESTION: Question = Question {
    name: "statements",
    facts: FACTS,
    grants: |_| vec![Grant::select("performance_schema.events_statements_summary_by_digest")],
    ask,
};

const FACTS: &[&Fact] = &[
    &statement::TAUTOLOGY,
    &statement::UNION,
    &statement::DELAY,
    &statement::ERROR_TEXT,
    &statement::FILE,
    &statement::INFERENCE,
    &statement::STACKED,
];

/// A server keeps 10,000 by default (MySQL) or 5,000 to 10,000 (MariaDB); more were set by somebody.
const DIGESTS: &str = "SELECT DIGEST_TEXT, COUNT_STAR, LAST_SEEN FROM performance_schema.events_statements_summary_by_digest \
                       ORDER BY LAST_SEEN DESC LIMIT 20000";
const DIGESTS_MAX: usize = 20_000;
/// So many are shown of a kind, the newest first.
const SHOWN_MAX: usize = 3;
/// Of each, so many characters.
const CHARS_MAX: usize = 160;

fn fact_of(sign: Sign) -> &'static Fact {
    match sign {
        Sign::Tautology => &statement::TAUTOLOGY,
        Sign::Union => &statement::UNION,
        Sign::Delay => &statement::DELAY,
        Sign::ErrorText => &statement::ERROR_TEXT,
        Sign::File => &statement::FILE,
        Sign::Inference => &statement::INFERENCE,
        Sign::Stacked => &statement::STACKED,
    }
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let is_mariadb = asking.capabilities.flavour == server::Flavour::MariaDb;
    let of_flavour = move |sign: &Sign| is_mariadb || *sign != Sign::Stacked;
    let grants = (QUESTION.grants)(asking.capabilities);
    let rows = match asking.rows_with(&grants, DIGESTS)? {
        Ok(rows) => rows,
        Err(why) => {
            for sign in Sign::ALL.into_iter().filter(of_flavour) {
                asking.note(fact_of(sign), Value::Unknown(why.clone()), DIGESTS);
            }
            return Ok(());
        }
    };
    let found = review(&rows);
    for sign in Sign::ALL.into_iter().filter(of_flavour) {
        asking.note(fact_of(sign), found.of(sign), DIGESTS);
    }
    Ok(())
}

#[derive(Default)]
struct Found {
    /// By the name of the fact.
    shapes: BTreeMap<&'static str, Vec<String>>,
    /// Nothing is kept of any statement.
    keeps_none: bool,
    /// Not every digest was read, or kept.
    is_partial: bool,
}

impl Found {
    fn of(&self, sign: Sign) -> Value {
        if self.keeps_none {
            return Value::Unknown(
                "the server keeps no digest of any statement: performance_schema is OFF, or its consumer statements_digest is".into(),
            );
        }
        let Some(all) = self.shapes.get(fact_of(sign).name) else {
            return if self.is_partial {
                Value::Unknown(
                    "none was found, and not every statement has a digest that was read: the server had no room for more (performance_schema_digests_size)"
                        .into(),
                )
            } else {
                Value::Absent
            };
        };
        let mut text = all.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("; ");
        if all.len() > SHOWN_MAX {
            text += &format!("; and {} more", all.len() - SHOWN_MAX);
        }
        Value::Text(text)
    }
}

fn review(rows: &Rows) -> Found {
    // Of a server that keeps digests this session's own statements are there.
    let mut found =
        Found { keeps_none: true, is_partial: rows.iter().count() >= DIGESTS_MAX, ..Found::default() };
    for row in rows.iter() {
        // One row counts all those for which there was no room left.
        let Some(digest) = row.at(0) else {
            found.is_partial |= row.at(1).is_none_or(|count| count != "0");
            continue;
        };
        if digest.is_empty() {
            continue;
        }
        found.keeps_none = false;
        for sign in signs(&digest) {
            let shape: String = digest.chars().take(CHARS_MAX).collect();
            let cut = if digest.chars().count() > CHARS_MAX { "…" } else { "" };
            let (count, last) = (row.at(1).unwrap_or_default(), row.at(2).unwrap_or_default());
            let line = format!("{shape}{cut} ({count} times, last {last})");
            found.shapes.entry(fact_of(sign).name).or_default().push(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Ask;
    use crate::script::Script;

    #[test]
    fn no_digest_at_all_is_not_no_injection() {
        let check = |rows: &[&[Option<&str>]], sign: Sign| {
            let mut script = Script::new(&[("events_statements", rows)]);
            review(&script.rows("SELECT a FROM events_statements").expect("rows")).of(sign)
        };
        let row = |text: Option<&'static str>| [text, Some("2"), Some("2026-11-26 20:00:00")];
        let injected = row(Some("SELECT * FROM `t` WHERE `id` = ? OR ? = ?"));
        let (honest, rest) = (row(Some("SELECT ?")), row(None));
        assert!(matches!(check(&[&rest], Sign::Union), Value::Unknown(_)));
        assert_eq!(check(&[&honest], Sign::Union), Value::Absent);
        // What was not kept may be one.
        assert!(
            matches!(check(&[&honest, &rest], Sign::Union), Value::Unknown(why) if why.contains("no room"))
        );
        assert_eq!(check(&[&honest, &injected], Sign::Union), Value::Absent);
        let told = check(&[&honest, &injected], Sign::Tautology);
        assert!(
            matches!(&told, Value::Text(text) if text.ends_with("OR ? = ? (2 times, last 2026-11-26 20:00:00)")),
            "{told:?}"
        );
        let many = [injected.as_slice(); 5];
        assert!(matches!(check(&many, Sign::Tautology), Value::Text(text) if text.ends_with("; and 2 more")));
    }
}

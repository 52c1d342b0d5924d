//! What statements were sent that speak for an injection: by the digests that the server keeps, and by the texts where it keeps some. Values are read there
//! and told nowhere.

mod digests;
mod hits;
mod probing;
mod texts;

use model::facts::statement;
use model::{Fact, Value};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;
use crate::statements::{Counted, Sign, divergent, signs};

use digests::{DIGESTS, Digests};
use hits::{Hits, Senders};
use texts::Texts;

pub const QUESTION: Question = Question { name: "statements", facts: FACTS, grants, ask };

const FACTS: &[&Fact] = &[
    &statement::TAUTOLOGY,
    &statement::UNION,
    &statement::DELAY,
    &statement::ERROR_TEXT,
    &statement::FILE,
    &statement::INFERENCE,
    &statement::STACKED,
    &statement::COMMENT,
    &statement::ENCODING,
    &statement::PROBING,
    &statement::DIVERGENCE,
];

fn fact_of(sign: Sign) -> &'static Fact {
    match sign {
        Sign::Tautology => &statement::TAUTOLOGY,
        Sign::Union => &statement::UNION,
        Sign::Delay => &statement::DELAY,
        Sign::ErrorText => &statement::ERROR_TEXT,
        Sign::File => &statement::FILE,
        Sign::Inference => &statement::INFERENCE,
        Sign::Stacked => &statement::STACKED,
        Sign::Comment => &statement::COMMENT,
        Sign::Encoding => &statement::ENCODING,
    }
}

/// The general log is not among them: where this account may read it, it is read.
fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    let tables = [digests::TABLE, texts::HISTORY, texts::HISTORY_LONG, texts::THREADS, texts::CONSUMERS];
    let probing = probing::table(capabilities.flavour);
    tables.into_iter().chain([probing]).map(Grant::select).collect()
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let digests = digests::read(asking)?;
    let texts = texts::read(asking)?;
    let senders = Senders::of(asking);
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let hits = hits(&digests, &texts);
    for sign in Sign::ALL {
        let value = match hits.of(fact_of(sign).name, &senders) {
            Some(found) => Value::Text(found),
            None => none(sign, &digests, &texts, is_mariadb),
        };
        let is_of_texts = matches!(sign, Sign::Comment | Sign::Encoding);
        asking.note(fact_of(sign), value, if is_of_texts { texts::HOW } else { DIGESTS });
    }
    asking.note(&statement::DIVERGENCE, divergence(&digests, &senders), DIGESTS);
    probing::ask(asking, &texts, &senders)
}

fn hits(digests: &Result<Digests, String>, texts: &Texts) -> Hits {
    let mut hits = Hits::default();
    for digest in digests.iter().flat_map(|digests| &digests.all) {
        for sign in signs(&digest.text) {
            hits.digest(fact_of(sign).name, digest);
        }
    }
    for kept in &texts.kept {
        for sign in kept.signs() {
            hits.text(fact_of(sign).name, kept);
        }
    }
    hits
}

/// What it says that no statement has this sign.
fn none(sign: Sign, digests: &Result<Digests, String>, texts: &Texts, is_mariadb: bool) -> Value {
    match sign {
        Sign::Comment | Sign::Encoding => texts.none(),
        Sign::Stacked if !is_mariadb => {
            if texts.tells_packets {
                Value::Absent
            } else {
                Value::Unknown(
                    "MySQL's digests do not tell which statements came in one packet; the general log tells, where it is on with log_output=TABLE and this \
                     account may read mysql.general_log"
                        .into(),
                )
            }
        }
        _ => match digests {
            Ok(digests) => digests.none(),
            Err(why) => Value::Unknown(why.clone()),
        },
    }
}

fn divergence(digests: &Result<Digests, String>, senders: &Senders) -> Value {
    let digests = match digests {
        Ok(digests) => digests,
        Err(why) => return Value::Unknown(why.clone()),
    };
    let counted: Vec<Counted<'_>> =
        digests.all.iter().map(|one| Counted { digest: &one.text, count: one.count }).collect();
    let Some(found) = divergent(&counted) else {
        return match digests.none() {
            Value::Absent => Value::Unknown(
                "no statement was sent often enough yet to say which ones are usual: nothing can diverge from them".into(),
            ),
            other => other,
        };
    };
    let mut hits = Hits::default();
    let name = statement::DIVERGENCE.name;
    for digest in found.into_iter().filter_map(|number| digests.all.get(number)) {
        hits.digest(name, digest);
    }
    hits.of(name, senders).map_or_else(|| digests.none(), Value::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Ask;
    use crate::script::Script;

    type Cells<'c> = &'c [Option<&'c str>];

    fn digests(rows: &[Cells<'_>]) -> Digests {
        let mut script = Script::new(&[("events_statements", rows)]);
        Digests::of(&script.rows("SELECT a FROM events_statements").expect("rows"))
    }

    fn check(rows: &[Cells<'_>], sign: Sign) -> Value {
        let (digests, texts) = (Ok(digests(rows)), Texts::default());
        let hits = hits(&digests, &texts);
        hits.of(fact_of(sign).name, &Senders::default())
            .map_or_else(|| none(sign, &digests, &texts, true), Value::Text)
    }

    #[test]
    fn no_digest_at_all_is_not_no_injection() {
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
        let another =
            ["a", "b", "c", "d"].map(|name| format!("SELECT `{name}` FROM `t` WHERE `id` = ? OR ? = ?"));
        let many: Vec<[Option<&str>; 3]> =
            another.iter().map(|text| [Some(text.as_str()), Some("1"), None]).collect();
        let many: Vec<Cells<'_>> = many.iter().map(|row| &row[..]).chain([&injected[..]]).collect();
        assert!(matches!(check(&many, Sign::Tautology), Value::Text(text) if text.ends_with("; and 2 more")));
    }

    #[test]
    fn what_no_digest_tells_is_unknown_without_a_text() {
        let honest = [Some("SELECT ?"), Some("2"), None];
        let digests = Ok(digests(&[&honest]));
        let nothing = Texts::default();
        for (sign, is_mariadb) in [(Sign::Comment, true), (Sign::Encoding, false), (Sign::Stacked, false)] {
            assert!(matches!(none(sign, &digests, &nothing, is_mariadb), Value::Unknown(_)), "{sign:?}");
        }
        assert_eq!(none(Sign::Stacked, &digests, &nothing, true), Value::Absent);
        let refused = Texts { refused: Some("no privilege".into()), ..Texts::default() };
        assert_eq!(none(Sign::Comment, &digests, &refused, true), Value::Unknown("no privilege".into()));
        let read = Texts { kept: vec![texts::Kept::of("SELECT 1")], tells_packets: true, ..Texts::default() };
        for sign in [Sign::Comment, Sign::Encoding, Sign::Stacked] {
            assert_eq!(none(sign, &digests, &read, false), Value::Absent, "{sign:?}");
        }
        // Nothing is usual yet.
        assert!(matches!(divergence(&digests, &Senders::default()), Value::Unknown(_)));
    }

    #[test]
    fn a_text_says_who_sent_what_a_digest_tells() {
        let text = "SELECT * FROM t WHERE a = 'SECRET' OR 1=1 -- '";
        let digest = "SELECT * FROM `t` WHERE `a` = ? OR ? = ?";
        let row = [Some(digest), Some("3"), Some("then")];
        let kept = texts::Kept {
            digest: Some(digest.into()),
            sender: Some(("web".into(), "10.0.0.7".into())),
            ..texts::Kept::of(text)
        };
        let hits = hits(&Ok(digests(&[&row])), &Texts { kept: vec![kept], ..Texts::default() });
        let senders = Senders::known(&[("web", "10.%", "FILE")]);
        assert_eq!(
            hits.of(statement::TAUTOLOGY.name, &senders).as_deref(),
            Some(
                "SELECT * FROM `t` WHERE `a` = ? OR ? = ? (3 times, last then, sent by 'web'@'10.%', through which it may do harm: FILE)"
            )
        );
        let told = hits.of(statement::COMMENT.name, &senders).unwrap_or_default();
        assert_eq!(
            told,
            "SELECT * FROM t WHERE a = ? OR ? = ? -- … (in 1 text that is kept, sent by 'web'@'10.%', through which it may do harm: FILE)"
        );
    }
}

//! Who was answered with the errors of somebody who tries things out. One such error is a typing mistake; several kinds from one account are not.

use std::collections::{BTreeMap, BTreeSet};

use model::Value;
use model::facts::statement;
use server::Flavour;

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::hits::Senders;
use super::texts::{Sender, Texts};

/// What honest statements end with too, now and then: syntax, a column that is not there, one that is there already, a value that is.
const ORDINARY: [u32; 4] = [1054, 1060, 1062, 1064];
/// What they hardly do: columns of a UNION (1222), an unreadable XPath (1105), a number out of range (1690), several columns where one is wanted (1241, on
/// MariaDB 4078 too), a malformed GTID set (1772), a text that is no JSON (3141).
///
/// Sources: MySQL 9.7 and MariaDB error references.
const TELLING: [u32; 7] = [1105, 1222, 1241, 1690, 1772, 3141, 4078];
/// So many kinds, one of them telling.
const KINDS_MIN: usize = 3;
/// Within this time of each other.
const WINDOW_S: i64 = 600;

const BY_ERROR: &str = "SELECT USER, HOST, ERROR_NUMBER, UNIX_TIMESTAMP(LAST_SEEN) \
                        FROM performance_schema.events_errors_summary_by_account_by_error \
                        WHERE USER IS NOT NULL AND SUM_ERROR_RAISED > 0 \
                        AND ERROR_NUMBER IN (1054, 1060, 1062, 1064, 1105, 1222, 1241, 1690, 1772, 3141)";
const BY_ACCOUNT: &str = "SELECT USER, HOST, SUM(SUM_ERRORS), CONCAT(USER, '@', HOST) = USER() \
                          FROM performance_schema.events_statements_summary_by_account_by_event_name \
                          WHERE USER IS NOT NULL GROUP BY USER, HOST";

/// MariaDB counts errors of an account, and not of which kind.
pub fn table(flavour: Flavour) -> &'static str {
    if flavour == Flavour::MariaDb {
        "performance_schema.events_statements_summary_by_account_by_event_name"
    } else {
        "performance_schema.events_errors_summary_by_account_by_error"
    }
}

pub fn ask(asking: &mut Asking<'_>, texts: &Texts, senders: &Senders) -> Result<(), Refusal> {
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let sql = if is_mariadb { BY_ACCOUNT } else { BY_ERROR };
    let value = if asking.view.variable("performance_schema") == Some("ON") {
        let rows = asking.rows_with(&[Grant::select(table(asking.capabilities.flavour))], sql)?;
        let lost = asking.view.status.get("performance_schema_accounts_lost").is_some_and(|lost| lost != "0");
        match rows {
            Err(why) => Value::Unknown(why),
            Ok(rows) => {
                let text = |row: &net::RowRef<'_>, at: usize| row.at(at).unwrap_or_default().into_owned();
                let number = |row: &net::RowRef<'_>, at: usize| {
                    row.at(at).and_then(|text| text.split('.').next()?.parse().ok())
                };
                if is_mariadb {
                    let failed = rows
                        .iter()
                        .filter(|row| row.at(3).as_deref() != Some("1"))
                        .map(|row| ((text(&row, 0), text(&row, 1)), number(&row, 2).unwrap_or(i64::MAX)));
                    by_texts(texts, failed, lost, senders)
                } else {
                    let errors = rows.iter().filter_map(|row| {
                        let error = u32::try_from(number(&row, 2)?).ok()?;
                        Some(((text(&row, 0), text(&row, 1)), error, number(&row, 3)?))
                    });
                    by_errors(errors, lost, senders)
                }
            }
        }
    } else {
        Value::Unknown("the server counts no errors: performance_schema is OFF".into())
    };
    asking.note(&statement::PROBING, value, sql);
    Ok(())
}

fn is_probing(kinds: &BTreeSet<u32>) -> bool {
    let known = kinds.iter().filter(|kind| ORDINARY.contains(kind) || TELLING.contains(kind)).count();
    known >= KINDS_MIN && kinds.iter().any(|kind| TELLING.contains(kind))
}

fn told(sender: &Sender, kinds: &BTreeSet<u32>, senders: &Senders) -> String {
    let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let (account, harm) = senders.named(sender);
    let harm = if harm.is_empty() { harm } else { format!(", through which it may do harm: {harm}") };
    format!("{account} was answered with errors {}{harm}", kinds.join(", "))
}

fn accounts_lost() -> Value {
    Value::Unknown(
        "none was found, and not every account is counted: the server had no room for more (performance_schema_accounts_size)".into(),
    )
}

/// Account, error, and when it was last raised, in seconds.
fn by_errors(errors: impl Iterator<Item = (Sender, u32, i64)>, lost: bool, senders: &Senders) -> Value {
    let mut of: BTreeMap<Sender, Vec<(i64, u32)>> = BTreeMap::new();
    for (sender, error, at) in errors {
        of.entry(sender).or_default().push((at, error));
    }
    let probing = |all: &Vec<(i64, u32)>| {
        let window = |from: i64| -> BTreeSet<u32> {
            let is_near = |at: i64| (0..=WINDOW_S).contains(&at.saturating_sub(from));
            all.iter().filter(|(at, _)| is_near(*at)).map(|(_, kind)| *kind).collect()
        };
        all.iter().map(|(at, _)| window(*at)).find(is_probing)
    };
    let found: Vec<String> =
        of.iter().filter_map(|(sender, all)| Some(told(sender, &probing(all)?, senders))).collect();
    match found.is_empty() {
        false => Value::Text(found.join("; ")),
        true if lost => accounts_lost(),
        true => Value::Absent,
    }
}

/// By the errors of kept texts; where there are too few failures for it, none was it.
fn by_texts(
    texts: &Texts,
    failed: impl Iterator<Item = (Sender, i64)>,
    lost: bool,
    senders: &Senders,
) -> Value {
    let mut of: BTreeMap<&Sender, BTreeSet<u32>> = BTreeMap::new();
    for kept in texts.kept.iter().filter(|kept| kept.error != 0) {
        if let Some(sender) = &kept.sender {
            of.entry(sender).or_default().insert(kept.error);
        }
    }
    let found: Vec<String> = of
        .iter()
        .filter(|(_, kinds)| is_probing(kinds))
        .map(|(sender, kinds)| told(sender, kinds, senders))
        .collect();
    if !found.is_empty() {
        return Value::Text(found.join("; "));
    }
    let least = i64::try_from(KINDS_MIN).unwrap_or(i64::MAX);
    let many: Vec<String> = failed
        .filter(|(_, count)| *count >= least)
        .map(|(sender, count)| format!("{count} of {}", senders.named(&sender).0))
        .collect();
    match (many.as_slice(), lost) {
        ([], false) => Value::Absent,
        ([], true) => accounts_lost(),
        (many, _) => Value::Unknown(format!(
            "statements failed ({}), and MariaDB does not count with which errors: only the histories of the performance schema tell, of the statements that they \
             still hold",
            many.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts::Kept;
    use super::*;

    fn web() -> Sender {
        ("web".into(), "10.0.0.7".into())
    }

    #[test]
    fn several_kinds_within_minutes_of_which_one_is_no_typing_mistake() {
        let check = |errors: &[(u32, i64)], lost| {
            by_errors(errors.iter().map(|&(error, at)| (web(), error, at)), lost, &Senders::default())
        };
        let probing = check(&[(1064, 100), (1222, 130), (1105, 160)], false);
        assert_eq!(probing, Value::Text("'web'@'10.0.0.7' was answered with errors 1064, 1105, 1222".into()));
        for ordinary in [
            &[][..],
            &[(1064, 100), (1222, 130)],
            &[(1064, 100), (1054, 130), (1062, 160), (1060, 160)],
            &[(1064, 100), (1222, 130), (1105, 1000)],
        ] {
            assert_eq!(check(ordinary, false), Value::Absent, "{ordinary:?}");
            assert!(matches!(check(ordinary, true), Value::Unknown(_)), "{ordinary:?}");
        }
        // Of two accounts neither tries things out.
        let two = [(web(), 1064, 1), (web(), 1222, 1), (("other".to_owned(), String::new()), 1105, 1)];
        assert_eq!(by_errors(two.into_iter(), false, &Senders::default()), Value::Absent);
    }

    #[test]
    fn mariadb_cannot_say_which_errors_there_were_but_for_kept_texts() {
        let texts = |errors: &[u32]| Texts {
            kept: errors.iter().map(|&error| Kept { error, sender: Some(web()), ..Kept::of("x") }).collect(),
            ..Texts::default()
        };
        let check = |errors: &[u32], failed: i64, lost| {
            by_texts(&texts(errors), [(web(), failed)].into_iter(), lost, &Senders::default())
        };
        assert!(matches!(check(&[1064, 1222, 4078], 9, false), Value::Text(_)));
        assert!(
            matches!(check(&[1064, 1222], 9, false), Value::Unknown(why) if why.contains("9 of 'web'@'10.0.0.7'"))
        );
        assert_eq!(check(&[1064, 1222], 2, false), Value::Absent);
        assert!(matches!(check(&[], 0, true), Value::Unknown(why) if why.contains("accounts_size")));
    }
}

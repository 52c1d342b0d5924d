//! The session of an audit in modes of its own. A server hands every session its global `sql_mode`, limits and
//! character set, and `init_connect` may change them once more for every account without SUPER: under some of them the
//! same statement gives other rows, cut, padded or empty, and no error.

use crate::ask::{Ask, Refusal};

/// One after the other, as an older one may not know the last.
///
/// Sources: both manuals, Server SQL Modes (EMPTY_STRING_IS_NULL makes `''` a NULL, so that the mode is given as a
/// number; PAD_CHAR_TO_FULL_LENGTH pads what is compared; NO_BACKSLASH_ESCAPES takes the escape from LIKE);
/// sql_select_limit cuts rows without a warning; max_join_size ends a join with error 1104, and setting it clears
/// sql_big_selects, which therefore comes after it.
const SETS: [&str; 3] = [
    "SET SESSION sql_mode = 0, sql_select_limit = 18446744073709551615, max_join_size = 18446744073709551615, \
     sql_quote_show_create = 1",
    "SET SESSION sql_big_selects = 1",
    "SET NAMES utf8mb4",
];
const VERIFY: &str = "SELECT CONCAT('=', @@SESSION.sql_mode), @@SESSION.sql_select_limit, @@SESSION.sql_big_selects, \
                      @@SESSION.sql_quote_show_create, @@SESSION.character_set_client, \
                      @@SESSION.character_set_connection, @@SESSION.character_set_results";
const VERIFIED: [&str; 7] = ["=", "18446744073709551615", "1", "1", "utf8mb4", "utf8mb4", "utf8mb4"];

/// Sets them, and sees that they are set. None needs a privilege.
///
/// # Errors
/// They are not what they have to be: no answer after that could be trusted.
pub(crate) fn set(ask: &mut dyn Ask) -> Result<(), Refusal> {
    let unfit = |why: String| Refusal::Unfit(why);
    for sql in SETS {
        match ask.rows(sql) {
            Ok(_) => {}
            Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why)),
            Err(refusal) => return Err(unfit(format!("{refusal}, to \"{sql}\""))),
        }
    }
    let rows = match ask.rows(VERIFY) {
        Ok(rows) => rows,
        Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why)),
        Err(refusal) => return Err(unfit(refusal.to_string())),
    };
    let Some(row) = rows.first() else { return Err(unfit("it answers a SELECT with no row".into())) };
    for (at, expected) in VERIFIED.into_iter().enumerate() {
        let is = row.at(at).unwrap_or_default();
        if is != expected {
            return Err(unfit(format!("value {} of \"{VERIFY}\" is \"{is}\", not \"{expected}\"", at + 1)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[test]
    fn a_session_whose_modes_cannot_be_set_is_not_asked() {
        let good: &[Option<&str>] = &VERIFIED.map(Some);
        let mut script = Script::new(&[(VERIFY, &[good])]);
        assert_eq!(set(&mut script), Ok(()));
        assert_eq!(script.asked.len(), SETS.len() + 1);
        for (at, other) in [(0, "=PAD_CHAR_TO_FULL_LENGTH"), (1, "1000"), (2, "0"), (6, "latin1")] {
            let mut row = VERIFIED.map(Some);
            row[at] = Some(other);
            let refused = set(&mut Script::new(&[(VERIFY, &[&row])]));
            assert!(matches!(&refused, Err(Refusal::Unfit(why)) if why.contains(other)), "{refused:?}");
        }
        // The rows are cut to none: nothing was verified.
        assert!(matches!(set(&mut Script::new(&[(VERIFY, &[])])), Err(Refusal::Unfit(_))));
        let mut script = Script::new(&[]);
        script.refuses = Some("SET SESSION sql_mode");
        assert!(matches!(set(&mut script), Err(Refusal::Unfit(_))));
    }
}

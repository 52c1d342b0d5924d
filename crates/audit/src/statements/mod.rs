//! What speaks for an injection in the shape of a statement. A hit is rare in honest traffic; that there is none does not say that nothing was injected: a
//! value that ends early looks like the statement it came from.
//!
//! # Source
//! Tried on MariaDB 10.11.19 and MySQL 9.7.4: a digest keeps names of functions, tables and columns, the order of words and, on MariaDB, the `;`
//! behind which another statement came in the same packet. Literals, comments, case and the spelling of numbers are gone.

mod tokens;

use tokens::{Token, tokens};

/// A kind of sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `OR ? = ?`: a condition that holds for every row.
    Tautology,
    /// A UNION behind a literal, of literals or of the server's own tables.
    Union,
    /// The server is made to wait or to work.
    Delay,
    /// A function is made to fail with what it should show.
    ErrorText,
    /// Files of the server are read or written.
    File,
    /// Characters of an answer are asked for one by one.
    Inference,
    /// Another statement in the same packet; only MariaDB's digests tell.
    Stacked,
}

impl Sign {
    pub const ALL: [Self; 7] = [
        Self::Tautology,
        Self::Union,
        Self::Delay,
        Self::ErrorText,
        Self::File,
        Self::Inference,
        Self::Stacked,
    ];
}

/// The signs in a digest.
pub fn signs(digest: &str) -> Vec<Sign> {
    let all = tokens(digest);
    let has = |sign: &Sign| match sign {
        Sign::Tautology => has_tautology(&all),
        Sign::Union => has_union(&all),
        Sign::Delay => has_delay(&all),
        Sign::ErrorText => has_error_text(&all),
        Sign::File => has_file(&all),
        Sign::Inference => has_inference(&all),
        Sign::Stacked => all.len() > 1 && all.last() == Some(&Token::Symbol(b';')),
    };
    Sign::ALL.into_iter().filter(has).collect()
}

const OPEN: Token<'static> = Token::Symbol(b'(');
const CLOSE: Token<'static> = Token::Symbol(b')');

/// Where a condition ends.
fn ends_condition(token: Option<&Token<'_>>) -> bool {
    token.is_none_or(|token| {
        matches!(token, Token::Symbol(b')' | b';'))
            || token.is_one_of(&["OR", "AND", "XOR", "LIMIT", "ORDER", "GROUP", "UNION", "HAVING"])
    })
}

/// `WHERE ? = ? AND` is how programs begin a list of conditions: only OR makes a row of every row.
fn has_tautology(all: &[Token<'_>]) -> bool {
    let after_or = all.iter().enumerate().filter(|(_, token)| token.is_one_of(&["OR", "XOR"]));
    for (at, _) in after_or {
        let rest: Vec<Token<'_>> = all
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .copied()
            .skip_while(|token| {
                *token == OPEN || token.is("NOT") || matches!(token, Token::Symbol(b'-' | b'+' | b'!'))
            })
            .take(8)
            .collect();
        match rest.as_slice() {
            [Token::Literal, Token::Compares, Token::Literal, more @ ..] if ends_condition(more.first()) => {
                return true;
            }
            [Token::Literal, more @ ..] if ends_condition(more.first()) => return true,
            [Token::Name(one), Token::Compares, Token::Name(other), more @ ..]
                if one == other && ends_condition(more.first()) =>
            {
                return true;
            }
            _ => {}
        }
    }
    // A string that was closed early, and compared once more: `name = '' = ''`.
    all.windows(4)
        .any(|four| matches!(four, [Token::Compares, Token::Literal, Token::Compares, Token::Literal]))
}

const OF_THE_SERVER: [&str; 8] =
    ["VERSION", "USER", "SYSTEM_USER", "CURRENT_USER", "SESSION_USER", "SCHEMA", "DATABASE", "CONCAT"];

/// An honest UNION stands behind a table, a bracket or a name; an injected one behind the value that it came in with.
fn has_union(all: &[Token<'_>]) -> bool {
    all.iter().enumerate().filter(|(_, token)| token.is("UNION")).any(|(at, _)| {
        let before = all.get(..at).unwrap_or_default();
        let is_behind_value = match before {
            [.., Token::Compares, Token::Literal]
            | [.., Token::Compares, Token::Symbol(b'-'), Token::Literal] => true,
            // A list, or a value in brackets that a value has closed.
            [.., Token::Literal, last] => *last == CLOSE,
            _ => false,
        };
        let rest = all.get(at + 1..).unwrap_or_default();
        let rest: Vec<&Token<'_>> = rest
            .iter()
            .skip_while(|token| token.is_one_of(&["ALL", "DISTINCT"]) || **token == OPEN)
            .collect();
        let [select, first, more @ ..] = rest.as_slice() else { return false };
        if !select.is("SELECT") || !is_behind_value {
            return false;
        }
        let reads_own = rest.windows(2).any(|two| {
            two[0].is("FROM")
                && matches!(two[1], Token::Name(name) | Token::Word(name)
                    if name.eq_ignore_ascii_case("mysql") || name.eq_ignore_ascii_case("information_schema"))
        });
        let asks_server = first.is_function(&OF_THE_SERVER) && more.first() == Some(&&OPEN);
        **first == Token::Literal || asks_server || reads_own
    })
}

/// A check of a server's health sleeps too, and does nothing else.
fn has_delay(all: &[Token<'_>]) -> bool {
    let is_alone = match all {
        [first, ..] => {
            first.is_one_of(&["SELECT", "DO"]) && all.len() <= 9 && !all.iter().any(|token| token.is("FROM"))
        }
        [] => false,
    };
    !is_alone && calls(all, &["SLEEP", "BENCHMARK"]).next().is_some()
}

/// Each call of one of these functions, with what follows its opening bracket.
fn calls<'a, 't>(all: &'a [Token<'t>], names: &'a [&'a str]) -> impl Iterator<Item = &'a [Token<'t>]> {
    all.windows(2)
        .enumerate()
        .filter(|(_, two)| two[0].is_function(names) && two[1] == OPEN)
        .map(|(at, _)| all.get(at + 2..).unwrap_or_default())
}

/// What stands in the brackets of a call.
fn arguments<'a, 't>(behind: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let mut depth = 1_usize;
    for (at, token) in behind.iter().enumerate() {
        match *token {
            OPEN => depth += 1,
            CLOSE => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return behind.get(..at).unwrap_or_default();
        }
    }
    behind
}

fn has_error_text(all: &[Token<'_>]) -> bool {
    let builds = |behind: &[Token<'_>]| {
        arguments(behind)
            .iter()
            .any(|token| token.is("SELECT") || token.is_function(&["CONCAT", "CONCAT_WS", "GROUP_CONCAT"]))
    };
    let asks = |behind: &[Token<'_>]| {
        behind.iter().find(|token| **token != OPEN).is_some_and(|token| token.is("SELECT"))
    };
    let is_seeded = |behind: &[Token<'_>]| matches!(behind, [rand, OPEN, Token::Literal, ..] if rand.is_function(&["RAND"]));
    calls(all, &["EXTRACTVALUE", "UPDATEXML", "GTID_SUBSET", "GTID_SUBTRACT"]).any(builds)
        || calls(
            all,
            &[
                "JSON_KEYS",
                "GEOMETRYCOLLECTION",
                "POLYGON",
                "MULTIPOINT",
                "MULTIPOLYGON",
                "LINESTRING",
                "MULTILINESTRING",
            ],
        )
        .any(asks)
        || calls(all, &["FLOOR"]).any(is_seeded)
        || calls(all, &["EXP"]).any(|behind| behind.first() == Some(&Token::Symbol(b'~')))
        || calls(all, &["NAME_CONST"]).next().is_some()
        || all.windows(2).any(|two| two[0].is("PROCEDURE") && two[1].is("ANALYSE"))
}

fn has_file(all: &[Token<'_>]) -> bool {
    calls(all, &["LOAD_FILE"]).next().is_some()
        || all.windows(2).any(|two| two[0].is("INTO") && two[1].is_one_of(&["OUTFILE", "DUMPFILE"]))
}

fn has_inference(all: &[Token<'_>]) -> bool {
    const PARTS: [&str; 3] = ["SUBSTRING", "SUBSTR", "MID"];
    let asks = |behind: &[Token<'_>]| {
        let mut inner = behind.iter().skip_while(|token| **token == OPEN);
        let (first, second) = (inner.next(), inner.next());
        first.is_some_and(|token| {
            let is_own = token.is_function(&OF_THE_SERVER) && !token.is_function(&["CONCAT"]);
            token.is("SELECT") || (is_own && second == Some(&OPEN))
        })
    };
    let of_a_part =
        |behind: &[Token<'_>]| calls(behind.get(..2).unwrap_or_default(), &PARTS).next().is_some();
    calls(all, &["ASCII", "ORD"]).any(|behind| of_a_part(behind) && behind.get(2..).is_some_and(asks))
        || calls(all, &PARTS).any(asks)
        || all.windows(4).any(|four| {
            four[0].is_one_of(&["RLIKE", "REGEXP"])
                && four[1] == OPEN
                && four[2].is("SELECT")
                && four[3].is_one_of(&["CASE", "IF"])
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn injections_are_told_by_the_shape_that_is_left_of_them() {
        for (digest, sign) in [
            ("SELECT * FROM `t` WHERE `id` = ? OR ? = ?", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `name` = ? OR ( ? = ? ) LIMIT ?", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR TRUE", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR `id` = `id`", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `name` = ? = ?", Sign::Tautology),
            ("SELECT `a` FROM `t` WHERE `id` = ? UNION ALL SELECT NULL , NULL", Sign::Union),
            ("SELECT `a` FROM `t` WHERE `id` = - ? UNION SELECT ?, ... ", Sign::Union),
            ("SELECT `a` FROM `t` WHERE `id` IN (...) UNION SELECT ?", Sign::Union),
            (
                "SELECT `a` FROM `t` WHERE `id` = ? UNION SELECT `user` , `x` FROM `mysql` . `user`",
                Sign::Union,
            ),
            ("SELECT * FROM `t` WHERE `id` = ? AND SLEEP (?)", Sign::Delay),
            (
                "SELECT * FROM `t` WHERE `id` = ? AND ( SELECT ? FROM ( SELECT ( SLEEP (?) ) ) `a` )",
                Sign::Delay,
            ),
            (
                "SELECT * FROM `t` WHERE `id` = ? AND `EXTRACTVALUE` ( ?, `concat` ( ?, ( SELECT `version` ( ) ) ) )",
                Sign::ErrorText,
            ),
            (
                "SELECT COUNT ( * ) , CONCAT ( ?, FLOOR ( RAND (?) * ? ) ) `x` FROM `t` GROUP BY `x`",
                Sign::ErrorText,
            ),
            (
                "SELECT * FROM `t` WHERE `id` = ? AND EXP ( ~ ( SELECT * FROM ( SELECT SYSTEM_USER ( ) ) `x` ) )",
                Sign::ErrorText,
            ),
            ("SELECT * FROM `t` WHERE `id` = ? UNION SELECT `LOAD_FILE` (?)", Sign::File),
            ("SELECT * FROM `t` WHERE `id` = ? INTO OUTFILE ?", Sign::File),
            (
                "SELECT * FROM `t` WHERE `id` = ? AND ASCII ( SUBSTRING ( ( SELECT `password` FROM `u` LIMIT ? ) , ?, ... ) ) > ?",
                Sign::Inference,
            ),
            (
                "SELECT * FROM `t` WHERE `id` = ? AND `ORD` ( SUBSTRING ( ( SELECT `x` FROM `y` ) , ?, ... ) ) > ?",
                Sign::Inference,
            ),
            ("SELECT * FROM `t` WHERE `id` = ? AND SUBSTRING ( VERSION ( ) , ?, ... ) = ?", Sign::Inference),
            (
                "SELECT * FROM `t` WHERE `id` = ? RLIKE ( SELECT CASE WHEN ? THEN ? ELSE ? END )",
                Sign::Inference,
            ),
            ("SELECT * FROM `t` WHERE `id` = ? ;", Sign::Stacked),
        ] {
            assert!(signs(digest).contains(&sign), "{sign:?} is not seen in {digest}: {:?}", signs(digest));
        }
    }

    #[test]
    fn honest_statements_have_no_sign() {
        for digest in [
            "SELECT * FROM `t` WHERE ? = ? AND `a` = ?",
            "SELECT * FROM `wp_posts` WHERE ? = ? AND ( `wp_posts` . `post_type` = ? OR `wp_posts` . `post_status` = ? )",
            "SELECT * FROM `t` WHERE `a` = ? OR `b` = ? OR `c` IS NULL",
            "SELECT * FROM `t` WHERE `a` = ? OR ? < `b`",
            "SELECT `a` FROM `t` UNION ALL SELECT ?, NULL",
            "SELECT `a` FROM `t` WHERE `x` = ? UNION ALL SELECT `b` FROM `u` WHERE `x` = ?",
            "( SELECT `a` FROM `t` WHERE `x` = `y` ) UNION ( SELECT `b` FROM `u` )",
            "SELECT SLEEP (?)",
            "DO SLEEP (?)",
            "SELECT `SLEEP` ( ? ) AS `x` ",
            "SELECT `a` , SUBSTRING ( `name` , ?, ... ) FROM `t`",
            "SELECT `extractvalue` ( `doc` , ? ) FROM `t`",
            "SELECT * FROM `t` ORDER BY `RAND` ( ) LIMIT ?",
            "SELECT FLOOR ( RAND ( ) * ? )",
            "SELECT `table_name` FROM `information_schema` . `tables` WHERE `table_schema` = ?",
            "INSERT INTO `t` VALUES (...) /* , ... */",
            "UPDATE `t` SET `a` = ? WHERE `id` = ? OR `parent` = ?",
            "SELECT IF ( `a` = `b` , ?, ... ) FROM `t`",
            "SELECT * FROM `t` WHERE `name` LIKE ? OR `name` LIKE ?",
            "SELECT * FROM `t` WHERE MATCH ( `a` ) AGAINST (?) OR `a` REGEXP ?",
            "SET NAMES utf8mb4",
            "SELECT @@max_allowed_packet",
            "",
        ] {
            assert_eq!(signs(digest), [], "{digest}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            let _ = signs(&text);
        }

        #[test]
        fn a_digest_that_was_cut_is_read_up_to_there(cut in 0_usize..160) {
            let whole = "SELECT * FROM `t` WHERE `id` = ? AND ASCII ( SUBSTRING ( ( SELECT `password` FROM `u` LIMIT ? ) , ?, ... ) ) > ? OR ? = ? ;";
            let _ = signs(whole.get(..cut.min(whole.len())).unwrap_or_default());
        }
    }
}

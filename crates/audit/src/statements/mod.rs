//! What speaks for an injection in a statement: in the shape that its digest keeps ([`signs`]), and in its text ([`signs_in_text`]). A hit is rare in honest traffic; that there is none does not say that nothing was injected: a
//! value that ends early looks like the statement it came from.
//!
//! # Source
//! Tried on MariaDB 10.11.19 and MySQL 9.7.4: a digest keeps names of functions, tables and columns, the order of words and, on MariaDB, the `;`
//! behind which another statement came in the same packet. Literals, comments, case and the spelling of numbers are gone.

mod divergence;
mod text;
mod tokens;

pub use divergence::{Counted, divergent};
use text::{Comment, Kind, Text};
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
    /// Another statement in the same packet; of digests, only MariaDB's tell.
    Stacked,
    /// A comment that cuts off what the application wrote behind a value, or that stands where a blank should; a quote that is not closed, or stands in a
    /// word. Only the text tells.
    Comment,
    /// A string that is spelled by the numbers of its characters. Only the text tells.
    Encoding,
}

impl Sign {
    pub const ALL: [Self; 9] = [
        Self::Tautology,
        Self::Union,
        Self::Delay,
        Self::ErrorText,
        Self::File,
        Self::Inference,
        Self::Stacked,
        Self::Comment,
        Self::Encoding,
    ];
}

/// The signs in a digest.
pub fn signs(digest: &str) -> Vec<Sign> {
    let all = tokens(digest);
    let has = |sign: &Sign| match sign {
        Sign::Stacked => all.len() > 1 && all.last() == Some(&SEMICOLON),
        of_both => has_in_both(&all, *of_both),
    };
    Sign::ALL.into_iter().filter(has).collect()
}

/// The signs in the text of a statement. Of one that was cut, the end is not judged.
pub fn signs_in_text(statement: &str, is_cut: bool) -> Vec<Sign> {
    let read = text::read(statement);
    let has = |sign: &Sign| match sign {
        Sign::Tautology => has_tautology(&read.tokens) || has_numbers_compared(&read),
        Sign::Stacked => has_second_statement(&read),
        Sign::Comment => has_comment_trick(&read, is_cut),
        Sign::Encoding => has_encoding(&read),
        of_both => has_in_both(&read.tokens, *of_both),
    };
    Sign::ALL.into_iter().filter(has).collect()
}

/// The text of a statement as a digest would have it: without a value.
pub fn shape(statement: &str) -> String {
    text::read(statement).shape()
}

/// What both a digest and a text tell.
fn has_in_both(all: &[Token<'_>], sign: Sign) -> bool {
    match sign {
        Sign::Tautology => has_tautology(all),
        Sign::Union => has_union(all),
        Sign::Delay => has_delay(all),
        Sign::ErrorText => has_error_text(all),
        Sign::File => has_file(all),
        Sign::Inference => has_inference(all),
        Sign::Stacked | Sign::Comment | Sign::Encoding => false,
    }
}

/// `AND 1514=1514`, by which it is seen whether an answer changes. Programs write `1=1` and `15=0` for what somebody has left out, and no other numbers.
fn has_numbers_compared(read: &Text<'_>) -> bool {
    const NUMBER_MIN: u64 = 10;
    let number = |at: usize| {
        let is_number = read.kinds.get(at) == Some(&Kind::Number);
        is_number && read.written(at).parse::<u64>().is_ok_and(|number| number >= NUMBER_MIN)
    };
    read.tokens.iter().enumerate().filter(|(_, token)| token.is_one_of(&["AND", "OR", "XOR"])).any(
        |(at, _)| {
            let skipped =
                read.tokens.iter().skip(at + 1).take_while(|token| **token == OPEN || token.is("NOT"));
            let first = at + 1 + skipped.count();
            number(first) && read.tokens.get(first + 1) == Some(&Token::Compares) && number(first + 2)
        },
    )
}

/// A routine has statements of its own, and so has a block that is sent as one.
fn has_second_statement(read: &Text<'_>) -> bool {
    const WITH_BODY: [&str; 6] = ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE", "NOT"];
    let all = &read.tokens;
    let has_body = all.first().is_some_and(|first| first.is_one_of(&["CREATE", "ALTER", "BEGIN"]))
        && all.iter().take(14).any(|token| token.is_one_of(&WITH_BODY));
    !has_body && all.len() > 1 && all.contains(&SEMICOLON)
}

fn has_comment_trick(read: &Text<'_>, is_cut: bool) -> bool {
    // What the end of a text says is not known where it was cut there.
    let is_whole = |at: usize| !is_cut || at < read.tokens.len();
    let is_trick = |(at, comment): &(usize, Comment<'_>)| match comment {
        Comment::Between => is_whole(*at),
        Comment::Executed(word) => HIDDEN.iter().any(|one| word.eq_ignore_ascii_case(one)),
        Comment::Line(said) => is_whole(*at) && cuts_off(said, *at == read.tokens.len()),
        Comment::Block => false,
    };
    read.is_broken || (read.is_open && !is_cut) || read.comments.iter().any(is_trick)
}

/// What nobody hides in a comment for one kind of server: dumps do that with options and definers.
const HIDDEN: [&str; 16] = [
    "UNION",
    "SELECT",
    "OR",
    "AND",
    "XOR",
    "WHERE",
    "FROM",
    "HAVING",
    "LIMIT",
    "GROUP",
    "ORDER",
    "CONCAT",
    "CHAR",
    "SLEEP",
    "BENCHMARK",
    "INTO",
];

/// Whether a comment to the end of its line holds what an application has written: the quote that was to close a value.
fn cuts_off(said: &str, is_last: bool) -> bool {
    let bare = said.trim();
    // `-- -`, with which a person ends what he has typed into a page, and anything behind it.
    let behind = bare.strip_prefix('-').unwrap_or(bare).trim_start();
    let is_typed_end = is_last && bare.starts_with('-') && !behind.starts_with('-');
    if is_typed_end || behind.starts_with(['\'', '"']) {
        return true;
    }
    // An apostrophe in a word is none of these.
    let chars: Vec<char> = bare.chars().collect();
    let is_in_word = |at: usize| {
        let letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphabetic());
        letter(at.checked_sub(1)) && letter(at.checked_add(1))
    };
    let quotes = |quote: char| {
        let has = |(at, one): &(usize, &char)| **one == quote && !is_in_word(*at);
        chars.iter().enumerate().filter(has).count()
    };
    is_last && (quotes('\'') % 2 == 1 || quotes('"') % 2 == 1)
}

/// Line ends, tabs and blanks, which reports spell so too.
const BLANKS: [&str; 5] = ["0", "9", "10", "13", "32"];

fn has_encoding(read: &Text<'_>) -> bool {
    let all = &read.tokens;
    let kind = |at: usize| read.kinds.get(at);
    all.iter().enumerate().any(|(at, token)| {
        if all.get(at + 1) != Some(&OPEN) {
            return false;
        }
        if token.is_function(&["CONCAT", "CONCAT_WS"]) {
            return kind(at + 2) == Some(&Kind::Hex);
        }
        let numbers: Vec<&str> = (at + 2..)
            .step_by(2)
            .take_while(|at| kind(*at) == Some(&Kind::Number))
            .map(|at| read.written(at))
            .collect();
        token.is_function(&["CHAR"])
            && numbers.len() > 1
            && numbers.iter().any(|number| !BLANKS.contains(number))
    })
}

const SEMICOLON: Token<'static> = Token::Symbol(b';');

const OPEN: Token<'static> = Token::Symbol(b'(');
const CLOSE: Token<'static> = Token::Symbol(b')');

/// Where a condition ends.
fn ends_condition(token: Option<&Token<'_>>) -> bool {
    token.is_none_or(|token| {
        matches!(token, Token::Symbol(b')' | b';'))
            || token.is_one_of(&["OR", "AND", "XOR", "LIMIT", "ORDER", "GROUP", "UNION", "HAVING"])
    })
}

/// `(1, 2)`, of which the end is seen.
fn is_list_of_literals(all: &[Token<'_>]) -> bool {
    let [open, inside @ ..] = all else { return false };
    let is_one = |token: &&Token<'_>| matches!(token, Token::Literal | Token::Symbol(b','));
    let count = inside.iter().take_while(is_one).count();
    *open == OPEN && count > 0 && inside.get(count) == Some(&CLOSE)
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
            [Token::Literal, is_in, list @ ..] if is_in.is("IN") && is_list_of_literals(list) => return true,
            [Token::Literal, between, Token::Literal, and, Token::Literal, more @ ..]
                if between.is("BETWEEN") && and.is("AND") && ends_condition(more.first()) =>
            {
                return true;
            }
            // Of no table.
            [select, Token::Literal, last, ..] if select.is("SELECT") && *last == CLOSE => return true,
            [exists, open, select, Token::Literal, last, ..]
                if exists.is("EXISTS") && *open == OPEN && select.is("SELECT") && *last == CLOSE =>
            {
                return true;
            }
            [Token::Word(variable), more @ ..]
                if variable.starts_with("@@") && ends_condition(more.first()) =>
            {
                return true;
            }
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
        if is_behind_value && rest.first().is_some_and(|first| first.is("VALUES")) {
            return true;
        }
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
        let is_of_values = **first == Token::Literal && !is_labelled(all, more);
        is_of_values || asks_server || reads_own
    })
}

/// A report that says in a first column which part a row comes from, or that ends with a line of totals. `behind` stands behind the first value of the
/// second part.
fn is_labelled(all: &[Token<'_>], behind: &[&Token<'_>]) -> bool {
    const TOTALS: [&str; 5] = ["SUM", "COUNT", "AVG", "MIN", "MAX"];
    let labels_first = match all {
        [select, Token::Literal, ..] => select.is("SELECT"),
        [OPEN, select, Token::Literal, ..] => select.is("SELECT"),
        _ => false,
    };
    let has_name = behind.first().is_some_and(|token| token.is("AS"));
    let has_total = matches!(behind, [comma, total, open, ..]
        if **comma == Token::Symbol(b',') && total.is_function(&TOTALS) && **open == OPEN);
    labels_first || has_name || has_total
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
    // Tools wrap what they ask for: `ORD(MID((IFNULL(CAST(CURRENT_USER() AS NCHAR), …`.
    let asks_within = |behind: &[Token<'_>]| {
        let inner = arguments(behind);
        (0..inner.len()).any(|at| inner.get(at..).is_some_and(asks))
    };
    calls(all, &["ASCII", "ORD"]).any(|behind| of_a_part(behind) && behind.get(2..).is_some_and(asks_within))
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
            ("SELECT * FROM `t` WHERE `id` = ? OR ? IN (...)", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR ? IN ( ? , ? )", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR ? BETWEEN ? AND ?", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR EXISTS ( SELECT ? )", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR ( SELECT ? )", Sign::Tautology),
            ("SELECT * FROM `t` WHERE `id` = ? OR @@version", Sign::Tautology),
            ("SELECT `a` FROM `t` WHERE `id` = ? UNION VALUES ( ?, ... )", Sign::Union),
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
                "SELECT * FROM `t` WHERE `id` = ? AND ORD ( SUBSTRING ( ( `IFNULL` ( CAST ( CURRENT_USER ( ) AS NCHARACTER ) , ? ) ) , ?, ... ) ) > ?",
                Sign::Inference,
            ),
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
            "SELECT * FROM `t` WHERE `a` = ? OR ? IN ( `b` , `c` )",
            "SELECT * FROM `t` WHERE `a` = ? OR ? BETWEEN `b` AND `c`",
            "SELECT * FROM `t` WHERE `a` = ? OR EXISTS ( SELECT ? FROM `u` WHERE `u` . `id` = `t` . `id` )",
            "SELECT * FROM `t` WHERE `a` = ? OR `b` IN (...)",
            "SELECT * FROM `t` WHERE `a` = ? OR ? IS NULL",
            "SELECT `a` FROM `t` UNION ALL SELECT ?, NULL",
            "SELECT ? , `a` FROM `t` WHERE `b` = ? UNION ALL SELECT ? , `a` FROM `u` WHERE `b` = ?",
            "SELECT `a` , `b` FROM `t` WHERE `b` > ? UNION ALL SELECT ? AS `a` , `c` FROM `u`",
            "SELECT `a` , `b` FROM `t` WHERE `b` > ? UNION ALL SELECT ? , SUM ( `b` ) FROM `t`",
            "SELECT `a` FROM `t` WHERE `x` = ? UNION ALL SELECT `b` FROM `u` WHERE `x` = ?",
            "( SELECT `a` FROM `t` WHERE `x` = `y` ) UNION ( SELECT `b` FROM `u` )",
            "SELECT SLEEP (?)",
            "DO SLEEP (?)",
            "SELECT `SLEEP` ( ? ) AS `x` ",
            "SELECT `a` , SUBSTRING ( `name` , ?, ... ) FROM `t`",
            "SELECT `extractvalue` ( `doc` , ? ) FROM `t`",
            "SELECT ASCII ( SUBSTRING ( IFNULL ( `name` , ? ) , ?, ... ) ) , ( SELECT ? ) FROM `t`",
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

    #[test]
    fn a_text_tells_what_its_digest_has_lost() {
        for (text, sign) in [
            ("SELECT * FROM u WHERE name = 'admin'-- ' AND pass = ''", Sign::Comment),
            ("SELECT * FROM u WHERE name = 'admin'#' AND pass = ''", Sign::Comment),
            ("SELECT * FROM u WHERE name = 'a' AND 1=1-- AbCd' AND pass = 'x'", Sign::Comment),
            ("SELECT * FROM u WHERE id = 1 OR 1=1 -- -", Sign::Comment),
            ("SELECT * FROM u WHERE id = 1 OR 1=1 -- - LIMIT 1", Sign::Comment),
            ("SELECT * FROM u WHERE id = 1/**/UNION/**/SELECT/**/2", Sign::Comment),
            ("SELECT * FROM u WHERE id = 1 /*!50000UNION*/ /*!50000SELECT*/ 2", Sign::Comment),
            ("SELECT * FROM u WHERE id = 1 /*!UnIoN*/ SELECT 2", Sign::Comment),
            ("SELECT * FROM u WHERE name = 'O'Brien'", Sign::Comment),
            ("SELECT * FROM u ORDER BY id' AND 1=1 AND 'a'='a", Sign::Comment),
            ("SELECT * FROM u WHERE name = ''\n-- ' AND pass=''\n ORDER BY id", Sign::Comment),
            ("SELECT CONCAT(0x7e, VERSION())", Sign::Encoding),
            ("SELECT * FROM t WHERE a = 1 AND 1=CONCAT_WS(0x3a,a,b)", Sign::Encoding),
            ("SELECT CHAR(97, 100, 109)", Sign::Encoding),
            ("SELECT * FROM u WHERE id = 1; DROP TABLE u", Sign::Stacked),
            ("SELECT * FROM u WHERE id = 1;", Sign::Stacked),
            ("SELECT * FROM u WHERE id = 1 OR 1=1", Sign::Tautology),
            ("SELECT * FROM u WHERE name = 'x' OR 'a'='a'", Sign::Tautology),
            ("SELECT * FROM u WHERE id = 1 AND 1514=1514", Sign::Tautology),
            ("SELECT * FROM u WHERE id = 1 AND (NOT 12=73) LIMIT 1", Sign::Tautology),
            ("SELECT a FROM u WHERE id = -1 UNION ALL SELECT NULL,CONCAT(0x71,1),NULL-- -", Sign::Union),
            ("SELECT a FROM u WHERE name = '' /*!UNION*/ SELECT 1", Sign::Union),
            ("SELECT a FROM u WHERE id = 1 AND SLEEP(5)", Sign::Delay),
            ("SELECT a FROM u WHERE id=1 AND ORD(MID((SELECT a FROM b),1,1))>64", Sign::Inference),
            ("SELECT a FROM u WHERE id=1 AND GTID_SUBSET(CONCAT(0x71,(SELECT 1)),1)", Sign::ErrorText),
            ("SELECT a FROM u WHERE id=1 INTO OUTFILE '/tmp/x'", Sign::File),
        ] {
            let seen = signs_in_text(text, false);
            assert!(seen.contains(&sign), "{sign:?} is not seen in {text}: {seen:?}");
        }
    }

    #[test]
    fn what_literals_comments_and_routines_say_is_no_sign() {
        for text in [
            "SELECT * FROM t WHERE a = 'or 1=1 literally' AND b = 'x; DROP TABLE t -- '",
            r"SELECT * FROM t WHERE a = 'union select' OR a = 'it''s' OR a = 'it\'s sleep(5)'",
            r"INSERT INTO t VALUES ('C:\\temp\\', 'O\'Brien', '/**/', '-- ''')",
            "SELECT * FROM t /* route='/a',controller='b' */",
            "SELECT * FROM t WHERE a = 1 -- customers who don't pay",
            "-- the report of the month\nSELECT 1",
            "SELECT a -- ------\nFROM t",
            "SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`",
            "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON u FOR EACH ROW SET @a = 1 */",
            "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
            "CREATE DEFINER=`a`@`%` TRIGGER t BEFORE INSERT ON u FOR EACH ROW BEGIN SET @a = 1; END",
            "BEGIN NOT ATOMIC SELECT 1; END",
            "SELECT CONCAT(a, CHAR(13, 10), b), CHAR(10) FROM t",
            "SELECT * FROM t WHERE uuid = 0x0123456789abcdef0123456789abcdef",
            "INSERT INTO t VALUES (x'00ff', b'1', _utf8mb4'a')",
            "CREATE TABLE t (a CHAR(10), b DECIMAL(10, 2))",
            "SELECT * FROM t/* a */WHERE/* b */a = 1",
            "SELECT * FROM t WHERE 1=1 AND 0 = 1 AND (0 = 0 OR a = 0) AND (15 = 0 OR a = 15) AND a BETWEEN 15 AND 20",
            r#"SELECT "a -- b", 'don''t -- do'"#,
            "",
        ] {
            assert_eq!(signs_in_text(text, false), [], "{text}");
        }
        // Where a text was cut its end says nothing.
        for cut in ["SELECT * FROM t WHERE a = 'long lo", "SELECT 1 -- it's l", "SELECT 1 # o"] {
            assert_eq!(signs_in_text(cut, true), [], "{cut}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            let _ = (signs(&text), signs_in_text(&text, true), signs_in_text(&text, false), shape(&text));
        }

        /// Whatever the value brings.
        #[test]
        fn a_shape_has_no_value(odd in "[ '\"`#*/;\\\\-]{0,12}") {
            let told = shape(&format!("SELECT * FROM t WHERE a = 'SECRET{odd}"));
            prop_assert!(!told.contains("SECRET"), "{told}");
        }

        #[test]
        fn a_digest_that_was_cut_is_read_up_to_there(cut in 0_usize..160) {
            let whole = "SELECT * FROM `t` WHERE `id` = ? AND ASCII ( SUBSTRING ( ( SELECT `password` FROM `u` LIMIT ? ) , ?, ... ) ) > ? OR ? = ? ;";
            let _ = signs(whole.get(..cut.min(whole.len())).unwrap_or_default());
        }
    }
}

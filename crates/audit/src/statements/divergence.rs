//! A rare statement that is a frequent one with something in it: behind a value, and of a kind that values are not.

use std::collections::BTreeMap;

use super::tokens::{Token, tokens};
use super::{CLOSE, OPEN, SEMICOLON};

/// A digest, and how often it was seen.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'d> {
    pub digest: &'d str,
    pub count: u64,
}

/// Seen so often, a statement is how the application writes it.
const FREQUENT_MIN: u64 = 30;
/// Somebody who tries something out seldom asks the same twice.
const RARE_MAX: u64 = 5;
/// So many frequent ones are compared with, the most frequent first: each rare one is held against each.
const FREQUENT_COMPARED_MAX: usize = 1_000;
/// A frequent statement with fewer words is the beginning of anything.
const WORDS_MIN: usize = 8;

/// Those of `all` that are rare and diverge, by their numbers; `None` where nothing is frequent, so that nothing can.
pub fn divergent(all: &[Counted<'_>]) -> Option<Vec<usize>> {
    let mut frequent: Vec<&Counted<'_>> = all.iter().filter(|one| one.count >= FREQUENT_MIN).collect();
    frequent.sort_by_key(|one| std::cmp::Reverse(one.count));
    frequent.truncate(FREQUENT_COMPARED_MAX);
    // By their first words, which what was put in never is.
    let mut by_start: BTreeMap<String, Vec<Vec<Token<'_>>>> = BTreeMap::new();
    for one in frequent {
        let words = tokens(one.digest);
        if words.len() >= WORDS_MIN {
            by_start.entry(start(&words)).or_default().push(words);
        }
    }
    let is_divergent = |one: &Counted<'_>| {
        let words = tokens(one.digest);
        let of_same_start = by_start.get(&start(&words));
        of_same_start.is_some_and(|frequent| frequent.iter().any(|known| diverges(&words, known)))
    };
    let found = || {
        let rare = all.iter().enumerate().filter(|(_, one)| one.count <= RARE_MAX);
        rare.filter(|(_, one)| is_divergent(one)).map(|(number, _)| number).collect()
    };
    (!by_start.is_empty()).then(found)
}

fn start(words: &[Token<'_>]) -> String {
    format!("{:?}", words.get(..4).unwrap_or(words))
}

/// Whether `rare` is the beginning of `known`, up to a value, with something else behind it. What `known` has there may follow, or be cut off by a comment.
fn diverges(rare: &[Token<'_>], known: &[Token<'_>]) -> bool {
    let same = rare.iter().zip(known).take_while(|(one, other)| one == other).count();
    (WORDS_MIN..=same).any(|at| {
        let is_behind_value = known.get(at - 1).is_some_and(|token| [Token::Literal, CLOSE].contains(token));
        is_behind_value
            && is_no_value(rare.get(at..).unwrap_or_default())
            && !is_no_value(known.get(at..).unwrap_or_default())
    })
}

/// Conditions on columns, which a form for searches adds too, are not meant.
fn is_no_value(put_in: &[Token<'_>]) -> bool {
    let asks = |rest: &[Token<'_>]| {
        let mut inner = rest.iter().skip_while(|token| **token == OPEN || token.is("NOT"));
        let (first, second) = (inner.next(), inner.next());
        let is_value = |token: Option<&Token<'_>>| token.is_some_and(|token| *token == Token::Literal);
        first.is_some_and(|token| token.is("SELECT"))
            || (is_value(first) && second.is_none_or(|second| *second == Token::Compares))
    };
    let [first, rest @ ..] = put_in else { return false };
    if first.is_one_of(&["OR", "AND", "XOR", "HAVING"]) {
        return asks(rest);
    }
    let second_opens = rest.first() == Some(&OPEN);
    let second_is = |words: &[&str]| rest.first().is_some_and(|token| token.is_one_of(words));
    (first.is("UNION") && second_is(&["SELECT", "ALL", "DISTINCT"]))
        || (first.is("UNION") && second_opens)
        || *first == SEMICOLON
        || (first.is("INTO") && second_is(&["OUTFILE", "DUMPFILE"]))
        || (first.is_one_of(&["RLIKE", "REGEXP"]) && second_opens)
        || (first.is("PROCEDURE") && second_is(&["ANALYSE"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_statement_that_is_a_frequent_one_and_more_is_told_apart_from_a_form_for_searches() {
        const KNOWN: &str = "SELECT `a` FROM `t` WHERE `id` = ? AND `live` = ? ORDER BY `a` LIMIT ?";
        const FORM: &str = "SELECT `a` FROM `t` WHERE `name` = ?";
        for (rare, is_told) in [
            ("SELECT `a` FROM `t` WHERE `id` = ? AND ? = ? AND `live` = ? ORDER BY `a` LIMIT ?", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? AND ? = ?", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? UNION ALL SELECT `b` FROM `u`", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? OR NOT ? = ?", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? AND ( SELECT ? FROM `x` ) > ?", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? RLIKE ( SELECT ? )", true),
            ("SELECT `a` FROM `t` WHERE `name` = ? AND `city` = ?", false),
            ("SELECT `a` FROM `t` WHERE `name` = ? OR `name` LIKE ?", false),
            ("SELECT `a` FROM `t` WHERE `name` = ? AND LOWER ( `city` ) = ?", false),
            ("SELECT `a` FROM `t` WHERE `name` = ? ORDER BY `a`", false),
            ("SELECT `a` FROM `t` WHERE `name` = ? LIMIT ?", false),
            ("SELECT `a` FROM `t` WHERE `name` = ?", false),
            ("SELECT `b` FROM `t` WHERE `name` = ? AND ? = ?", false),
            ("", false),
        ] {
            let all = [KNOWN, FORM].map(|digest| Counted { digest, count: 100 });
            let with = |count| divergent(&[all[0], all[1], Counted { digest: rare, count }]);
            assert_eq!(with(1), Some(if is_told { vec![2] } else { vec![] }), "{rare}");
            assert_eq!(with(RARE_MAX + 1), Some(vec![]), "{rare}: it is not rare");
        }
        // Without anything that is frequent there is nothing to diverge from.
        let alone = [Counted { digest: KNOWN, count: 2 }, Counted { digest: FORM, count: 2 }];
        assert_eq!(divergent(&alone), None);
    }
}

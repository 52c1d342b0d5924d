//! The text of a statement as it was sent: the words of a digest, and what a digest loses. A literal is one word, so that what it says trips nothing.

use super::tokens::{COMPARISONS, Token, is_of_word, word};

/// What a word is beside what a digest keeps of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    String,
    Number,
    /// `0x7e`, `x'7e'`.
    Hex,
    /// No literal, or one without a value of its own (NULL, `?`).
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comment<'t> {
    /// `-- ` or `#`, with what follows on its line.
    Line(&'t str),
    /// `/* */` with nothing in it, where words touch it on both sides.
    Between,
    /// `/*!50000 word */`: it is executed; the first word in it.
    Executed(&'t str),
    /// Any other.
    Block,
}

/// A statement, read.
#[derive(Debug, Default)]
pub struct Text<'t> {
    source: &'t str,
    pub tokens: Vec<Token<'t>>,
    /// One for each of them.
    pub kinds: Vec<Kind>,
    /// Where each begins and ends in the text.
    spans: Vec<(usize, usize)>,
    /// Each with the number of words before it.
    pub comments: Vec<(usize, Comment<'t>)>,
    /// A quote is not closed.
    pub is_open: bool,
    /// A string touches a word or a number, as where a value has brought a quote of its own.
    pub is_broken: bool,
}

/// What can be read as no word is left out.
///
/// Sources: MySQL manual, Lexical Structure (strings, hexadecimal literals, comments: `--` needs a blank behind it); MariaDB manual, Comment Syntax (`/*M!`).
pub fn read(source: &str) -> Text<'_> {
    let text = read_with(source, true);
    // Under NO_BACKSLASH_ESCAPES a backslash is a character as others are: who reads it the other way misses the end of `'C:\'`.
    if (text.is_open || text.is_broken) && source.contains('\\') {
        let other = read_with(source, false);
        if !other.is_open && !other.is_broken {
            return other;
        }
    }
    text
}

fn read_with(source: &str, has_escapes: bool) -> Text<'_> {
    let mut text = Text { source, ..Text::default() };
    let mut at = 0;
    while let Some(first) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        let length = match first {
            one if one.is_whitespace() => one.len_utf8(),
            '\'' | '"' => {
                let length = quoted(rest, first, has_escapes);
                text.is_open |= length.is_none();
                let length = length.unwrap_or(rest.len());
                text.is_broken |= touches_word(&text, source, at, at + length);
                text.literal(Kind::String, at, length);
                length
            }
            '`' => {
                let length = quoted(rest, '`', false);
                text.is_open |= length.is_none();
                let length = length.unwrap_or(rest.len());
                let name = rest.get(1..length.saturating_sub(1).max(1)).unwrap_or_default();
                text.push(Token::Name(name), Kind::Other, at, length);
                length
            }
            '#' => text.line(rest, 1),
            '-' if is_line_comment(rest) => text.line(rest, 2),
            '/' if rest.starts_with("/*") => text.block(source, at),
            // The end of one that is executed.
            '*' if rest.starts_with("*/") => 2,
            '?' => {
                text.push(Token::Literal, Kind::Other, at, 1);
                1
            }
            '\\' if rest.starts_with("\\N") => {
                text.push(Token::Literal, Kind::Other, at, 2);
                2
            }
            one if one.is_ascii_digit() => {
                let is_hex = rest.starts_with("0x") && rest.get(2..3).is_some_and(is_hex_digit);
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
                let length = end.unwrap_or(rest.len());
                text.literal(if is_hex { Kind::Hex } else { Kind::Number }, at, length);
                length
            }
            one if is_of_word(one) => {
                let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
                let (written, behind) = rest.split_at(length);
                // `x'7e'` and `_utf8'x'` are one literal with the string behind them.
                if behind.starts_with('\'')
                    && (["x", "b", "n"].iter().any(|one| written.eq_ignore_ascii_case(one))
                        || written.starts_with('_'))
                {
                    let string = quoted(behind, '\'', has_escapes);
                    text.is_open |= string.is_none();
                    let length = length + string.unwrap_or(behind.len());
                    let is_hex = written.eq_ignore_ascii_case("x");
                    text.literal(if is_hex { Kind::Hex } else { Kind::String }, at, length);
                    length
                } else {
                    text.push(word(written), Kind::Other, at, length);
                    length
                }
            }
            one => {
                if let Some(comparison) = COMPARISONS.iter().find(|text| rest.starts_with(**text)) {
                    text.push(Token::Compares, Kind::Other, at, comparison.len());
                    comparison.len()
                } else {
                    if let Ok(symbol) = u8::try_from(one) {
                        text.push(Token::Symbol(symbol), Kind::Other, at, 1);
                    }
                    one.len_utf8()
                }
            }
        };
        at += length.max(1);
    }
    text
}

/// Words that somebody who saves blanks writes beside a string, and those that make one literal with it.
const BESIDE_STRINGS: [&str; 44] = [
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BINARY",
    "BY",
    "CHARSET",
    "COLLATE",
    "COMMENT",
    "DATE",
    "DEFAULT",
    "DESC",
    "DIV",
    "ELSE",
    "END",
    "ESCAPE",
    "FOR",
    "FROM",
    "GROUP",
    "HAVING",
    "IDENTIFIED",
    "IN",
    "INTERVAL",
    "INTO",
    "IS",
    "LIKE",
    "LIMIT",
    "MOD",
    "NAMES",
    "NOT",
    "ON",
    "OR",
    "ORDER",
    "REGEXP",
    "RLIKE",
    "SELECT",
    "SEPARATOR",
    "THEN",
    "TIME",
    "TIMESTAMP",
    "UNION",
    "USING",
    "WHEN",
    "WHERE",
];

/// Whether the string between `from` and `to` touches a word on one of its sides that is none of those.
fn touches_word(text: &Text<'_>, source: &str, from: usize, to: usize) -> bool {
    let is_inner = |one: char| one.is_alphanumeric() || one == '_';
    let is_known = |word: &str| BESIDE_STRINGS.iter().any(|one| word.eq_ignore_ascii_case(one));
    let before = match (text.tokens.last(), text.spans.last()) {
        (Some(Token::Word(word)), Some((_, end))) => {
            *end == from && word.ends_with(is_inner) && !is_known(word)
        }
        (Some(Token::Literal), Some((_, end))) => {
            *end == from && matches!(text.kinds.last(), Some(Kind::Number | Kind::Hex))
        }
        _ => false,
    };
    let rest = source.get(to..).unwrap_or_default();
    let word = rest.get(..rest.find(|c: char| !is_inner(c)).unwrap_or(rest.len())).unwrap_or_default();
    before || (!word.is_empty() && !is_known(word))
}

fn is_hex_digit(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_line_comment(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|behind| behind.chars().next().is_none_or(|c| c.is_whitespace() || c.is_control()))
}

/// How long a text in quotes is, both of them counted; a quote that stands twice is one of the text.
fn quoted(rest: &str, quote: char, has_escapes: bool) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, one)) = chars.next() {
        if one == '\\' && has_escapes {
            chars.next();
        } else if one == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + 1);
        }
    }
    None
}

impl<'t> Text<'t> {
    fn push(&mut self, token: Token<'t>, kind: Kind, at: usize, length: usize) {
        self.tokens.push(token);
        self.kinds.push(kind);
        self.spans.push((at, at + length));
    }

    fn literal(&mut self, kind: Kind, at: usize, length: usize) {
        self.push(Token::Literal, kind, at, length);
    }

    /// A comment to the end of its line; its length.
    fn line(&mut self, rest: &'t str, mark: usize) -> usize {
        let length = rest.find('\n').unwrap_or(rest.len());
        let said = rest.get(mark..length).unwrap_or_default();
        self.comments.push((self.tokens.len(), Comment::Line(said)));
        length
    }

    /// A comment with two ends, or the beginning of one that is executed; what of it is read.
    fn block(&mut self, source: &'t str, at: usize) -> usize {
        let rest = source.get(at..).unwrap_or_default();
        for mark in ["/*!", "/*M!"] {
            if let Some(inner) = rest.strip_prefix(mark) {
                let version = inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len());
                let said = inner.get(version..).unwrap_or_default().trim_start();
                let first = said.get(..said.find(|c: char| !is_of_word(c)).unwrap_or(said.len()));
                self.comments.push((self.tokens.len(), Comment::Executed(first.unwrap_or_default())));
                return mark.len() + version;
            }
        }
        let end = rest.find("*/").map(|end| end + 2);
        let length = end.unwrap_or(rest.len());
        let touches = |one: Option<char>| one.is_some_and(|one| is_of_word(one) || "'\"`()".contains(one));
        let before = source.get(..at).and_then(|before| before.chars().next_back());
        let behind = rest.get(length..).and_then(|behind| behind.chars().next());
        let is_between = rest.starts_with("/**/") && touches(before) && touches(behind);
        let comment = if is_between { Comment::Between } else { Comment::Block };
        self.comments.push((self.tokens.len(), comment));
        length
    }

    /// A word as it stands in the text.
    pub fn written(&self, number: usize) -> &'t str {
        self.spans.get(number).and_then(|(from, to)| self.source.get(*from..*to)).unwrap_or_default()
    }

    /// The statement without a value and without what its comments say. Where quotes are not what they seem, values stand in the place of words: it ends with
    /// the first string there.
    pub fn shape(&self) -> String {
        let mut shape = String::new();
        let mut add = |word: &str| {
            if !shape.is_empty() {
                shape.push(' ');
            }
            shape.push_str(word);
        };
        let mut comments = self.comments.iter().peekable();
        for (number, (token, (from, to))) in self.tokens.iter().zip(&self.spans).enumerate() {
            while let Some((_, comment)) = comments.next_if(|(before, _)| *before <= number) {
                add(comment.shape());
            }
            if *token == Token::Literal {
                add("?");
                if (self.is_open || self.is_broken) && self.kinds.get(number) == Some(&Kind::String) {
                    add("…");
                    return shape;
                }
            } else if matches!(token, Token::Name(name) if name.contains(|one: char| !is_of_name(one))) {
                // No name of a table: an injection with an odd number of these quotes.
                add("`…`");
            } else {
                add(self.source.get(*from..*to).unwrap_or_default());
            }
        }
        for (_, comment) in comments {
            add(comment.shape());
        }
        shape
    }
}

/// As names of tables and columns have it.
fn is_of_name(one: char) -> bool {
    is_of_word(one) || [' ', '-', '.'].contains(&one)
}

impl Comment<'_> {
    fn shape(self) -> &'static str {
        match self {
            Self::Line(_) => "-- …",
            Self::Between | Self::Block => "/* */",
            Self::Executed(_) => "/*! */",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_no_value_and_no_word_of_a_comment() {
        for (text, shape) in [
            ("SELECT * FROM `t` WHERE a='it''s' AND b=\"x\\\"y\"", "SELECT * FROM `t` WHERE a = ? AND b = ?"),
            ("SELECT 0x7e, x'7E', _utf8'secret', NULL, .5, 1e3", "SELECT ? , ? , ? , ? , . ? , ?"),
            ("SELECT 1 -- secret\n+ 2 # more", "SELECT ? -- … + ? -- …"),
            ("SELECT--1", "SELECT - - ?"),
            ("SELECT/**/1/*secret*/", "SELECT /* */ ? /* */"),
            ("SELECT /*!50000 a*/ FROM t", "SELECT /*! */ a FROM t"),
            // What stands behind the name is a value.
            ("SELECT * FROM t WHERE a='O'Brien'", "SELECT * FROM t WHERE a = ? …"),
            ("SELECT 'C:\\', 'x'", "SELECT ? , ?"),
            ("SELECT * FROM t WHERE a='O'Brien' OR 'x'", "SELECT * FROM t WHERE a = ? …"),
            ("SELECT * FROM t WHERE id=1` WHERE 1=0x7e", "SELECT * FROM t WHERE id = ? `…`"),
            ("SELECT `a b` FROM `t-1`.`u`", "SELECT `a b` FROM `t-1` . `u`"),
            ("", ""),
        ] {
            assert_eq!(read(text).shape(), shape, "{text}");
        }
    }

    #[test]
    fn a_quote_is_open_only_where_no_reading_closes_it() {
        assert!(read("SELECT 'a").is_open);
        assert!(read("SELECT 'a\\'").is_open == read_with("SELECT 'a\\'", false).is_open);
        assert!(!read(r"SELECT 'C:\'").is_open);
        assert!(!read(r"SELECT 'it\'s'").is_open);
        assert!(!read("SELECT 'a''b'").is_open);
        assert!(!read("SELECT 1 -- don't").is_open);
    }

    #[test]
    fn a_string_beside_a_word_has_been_broken_by_a_quote_in_a_value() {
        for text in [
            "SELECT * FROM t WHERE a = 'O'Brien' OR 'x'",
            "SELECT * FROM t ORDER BY price' AND SLEEP(1) AND 'a'='a",
            "SELECT * FROM t WHERE id = 1' AND 1=1 AND 'a'='a",
            "SELECT * FROM t WHERE a = ''x",
        ] {
            assert!(read(text).is_broken, "{text}");
        }
        for text in [
            "SELECT * FROM t WHERE a='x'AND b LIKE'y'OR c IN('z')",
            "CREATE USER 'a'@'b' IDENTIFIED BY'x'",
            "SET @a='x', @'b'='y'",
            "SELECT DATE'2026-11-26', N'a', _utf8'b', x'00', 'a' 'b', a->'$.x', a->>'$.y'",
            "SELECT 'a' name, name 'b', 1 'c'",
            "INSERT INTO t VALUES ('it''s','a\\'b')",
        ] {
            assert!(!read(text).is_broken, "{text}");
        }
    }
}

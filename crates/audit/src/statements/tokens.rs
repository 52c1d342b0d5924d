//! Words of a digest: a statement without one literal, as the performance schema keeps it. Its text is cut at `max_digest_length`.

/// A word of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'t> {
    /// A key word, a function or a name without quotes.
    Word(&'t str),
    /// A name in quotes.
    Name(&'t str),
    /// `?`, and what digests keep as it is: numbers, NULL, TRUE, FALSE.
    Literal,
    /// A comparison.
    Compares,
    Symbol(u8),
}

pub(super) const COMPARISONS: [&str; 8] = ["<=>", "<>", "!=", "<=", ">=", "=", "<", ">"];

/// The words of a digest. What cannot be read as one is left out.
pub fn tokens(digest: &str) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    let mut rest = digest;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '`' | '"' => quoted(rest, first),
            '?' => (Some(Token::Literal), 1),
            // A list of literals goes on.
            '.' if rest.starts_with("...") => (Some(Token::Literal), 3),
            one if one.is_ascii_digit() => (
                Some(Token::Literal),
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len()),
            ),
            one if is_of_word(one) => {
                let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
                (rest.get(..length).map(word), length)
            }
            one if one.is_whitespace() => (None, one.len_utf8()),
            one => match COMPARISONS.iter().find(|text| rest.starts_with(**text)) {
                Some(text) => (Some(Token::Compares), text.len()),
                None => (u8::try_from(one).ok().map(Token::Symbol), one.len_utf8()),
            },
        };
        all.extend(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    all
}

pub(super) fn is_of_word(one: char) -> bool {
    one.is_alphanumeric() || ['_', '$', '@'].contains(&one)
}

pub(super) fn word(text: &str) -> Token<'_> {
    match text.to_ascii_uppercase().as_str() {
        "NULL" | "TRUE" | "FALSE" => Token::Literal,
        "LIKE" => Token::Compares,
        _ => Token::Word(text),
    }
}

/// A name goes to its closing quote; one that was cut, to the end.
fn quoted(text: &str, quote: char) -> (Option<Token<'_>>, usize) {
    let inner = text.get(1..).unwrap_or_default();
    let end = inner.find(quote).unwrap_or(inner.len());
    (inner.get(..end).map(Token::Name), (end + 2).min(text.len()))
}

impl Token<'_> {
    pub fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// A function, however a digest spells it: one that a server does not know by itself stands in quotes.
    pub fn is_function(&self, names: &[&str]) -> bool {
        matches!(self, Self::Word(text) | Self::Name(text) if names.iter().any(|name| text.eq_ignore_ascii_case(name)))
    }

    pub fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

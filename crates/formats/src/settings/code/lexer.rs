//! The words of a source: texts with their escapes undone and holes where something is filled in, numbers, names, signs.

use zeroize::Zeroizing;

use super::Language;
use crate::settings::HOLE;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Text(Zeroizing<String>),
    Number(String),
    /// With dots, colons and arrows in it.
    Name(String),
    /// `=>`, `==`, or one character.
    Sign(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) kind: Kind,
    /// Stands first on its line.
    pub(super) starts_line: bool,
    /// Of such a token: how far it stands in.
    pub(super) indent: usize,
}

/// The words of a source, and where reading it went wrong.
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// From this line on a text may be taken for code, and code for a text; why.
    pub(super) broken: Option<(usize, &'static str)>,
}

/// Stands for a sign that is none of these: whatever has it is no value.
pub(super) const STRANGE: &str = "\u{fffd}";

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    language: Language,
    previous_is_value: bool,
    tokens: Vec<Token>,
    broken: Option<(usize, &'static str)>,
    /// Heredocs that begin on the next line: their last word.
    heredocs: Vec<String>,
    /// A line on which no regular expression ends any more.
    no_regex_on: usize,
}

/// Longest first.
const SIGNS: [&str; 40] = [
    "===", "!==", "<=>", "...", "**", "=>", "==", "!=", "<=", ">=", "+=", "-=", ".=", "||", "&&", "??", "//",
    "|=", "->", "::", "(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "+", "-", "*", "/", "|", "&", "?",
    "<", ">", ".",
];

/// The tokens of a source.
pub(super) fn tokens(text: &str, language: Language) -> Lexed {
    Lexer {
        rest: text,
        line: 1,
        language,
        previous_is_value: false,
        tokens: Vec::new(),
        broken: None,
        heredocs: Vec::new(),
        no_regex_on: 0,
    }
    .tokens()
}

impl Lexer<'_> {
    fn tokens(mut self) -> Lexed {
        let mut starts_line = true;
        let mut indent = 0_usize;
        if self.language == Language::Php {
            // What stands in front of the first tag is a page.
            let end = self.rest.find("<?").map_or(0, |at| at + 2);
            self.skip(end);
        }
        while let Some(first) = self.rest.chars().next() {
            if first == '\n' {
                (starts_line, indent) = (true, 0);
                self.skip(1);
                self.skip_heredocs();
                continue;
            }
            if first == '\\' && self.rest.starts_with("\\\n") {
                self.skip(2);
                continue;
            }
            if first.is_whitespace() {
                indent += 1;
                self.skip(first.len_utf8());
                continue;
            }
            // PHP's @ says that nobody wants to hear of an error.
            if first == '@' && self.language == Language::Php {
                self.skip(1);
                continue;
            }
            if self.comment(starts_line) || self.page_between_tags() {
                continue;
            }
            if self.is_at_data(starts_line) {
                break;
            }
            let line = self.line;
            let kind = self.token(first);
            self.previous_is_value = match &kind {
                Kind::Sign(sign) => matches!(*sign, ")" | "]" | "}"),
                Kind::Name(name) => !is_word_before_value(name),
                _ => true,
            };
            self.tokens.push(Token { line, kind, starts_line, indent });
            starts_line = false;
        }
        if !self.heredocs.is_empty() {
            self.breaks("a text that begins here has no end");
        }
        Lexed { tokens: self.tokens, broken: self.broken }
    }

    fn breaks(&mut self, why: &'static str) {
        self.broken.get_or_insert((self.line, why));
    }

    /// What follows is no program.
    fn is_at_data(&self, starts_line: bool) -> bool {
        const HALT: &str = "__halt_compiler";
        if self.language == Language::Php
            && self.rest.get(..HALT.len()).is_some_and(|word| word.eq_ignore_ascii_case(HALT))
        {
            return true;
        }
        starts_line
            && matches!(self.language, Language::Perl | Language::Ruby)
            && ["__END__", "__DATA__"].iter().any(|word| self.rest.starts_with(word))
    }

    /// PHP's `?>` up to the next tag.
    fn page_between_tags(&mut self) -> bool {
        if self.language != Language::Php || !self.rest.starts_with("?>") {
            return false;
        }
        let end = self.rest.find("<?").map_or(self.rest.len(), |at| at + 2);
        self.skip(end);
        true
    }

    /// The word that ends a heredoc, if one begins here; `<<` of Perl and Ruby is a shift too, so a word must stand right behind.
    fn heredoc(&mut self) -> bool {
        let (mark, words) = match self.language {
            Language::Php => ("<<<", ""),
            Language::Perl | Language::Ruby => ("<<", "~-"),
            _ => return false,
        };
        let Some(rest) = self.rest.strip_prefix(mark) else { return false };
        let has_dash = rest.starts_with(|c: char| words.contains(c));
        let rest = rest.trim_start_matches(|c: char| words.contains(c));
        let rest = if self.language == Language::Php { rest.trim_start_matches([' ', '\t']) } else { rest };
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let inner = quote.map_or(rest, |quote| rest.get(quote.len_utf8()..).unwrap_or_default());
        let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let word = inner.get(..length).unwrap_or_default();
        let begins_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        // `x << y`, and `class << self`.
        let is_bare = quote.is_none() && self.language != Language::Php;
        let is_shout = word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !begins_well || (is_bare && !is_shout && !has_dash) {
            return false;
        }
        self.heredocs.push(word.to_owned());
        let after = inner.get(length..).unwrap_or_default();
        let after = quote.map_or(after, |quote| after.strip_prefix(quote).unwrap_or(after));
        self.skip(self.rest.len().saturating_sub(after.len()));
        true
    }

    /// At the start of a line: past the heredocs that the line before has begun.
    fn skip_heredocs(&mut self) {
        for word in std::mem::take(&mut self.heredocs) {
            let mut has_ended = false;
            while !self.rest.is_empty() {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                let line = self.rest.get(..end).unwrap_or_default().trim();
                let is_last = line.strip_prefix(word.as_str()).is_some_and(|after| {
                    after.is_empty()
                        || (self.language == Language::Php
                            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                });
                if is_last {
                    // What stands behind the word belongs to the statement.
                    let at = self.rest.find(word.as_str()).unwrap_or(0) + word.len();
                    self.skip(at);
                    has_ended = true;
                    break;
                }
                self.skip(end);
            }
            if !has_ended {
                self.breaks("a text that begins before has no end");
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += gone.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
    }

    /// A comment, if one stands here, and is passed over.
    fn comment(&mut self, starts_line: bool) -> bool {
        let has_hash =
            matches!(self.language, Language::Python | Language::Php | Language::Ruby | Language::Perl);
        let has_slashes = matches!(self.language, Language::JavaScript | Language::Php | Language::CLike);
        // PHP's attributes are written #[…]; nothing of ours stands in one.
        if (has_hash && self.rest.starts_with('#')) || (has_slashes && self.rest.starts_with("//")) {
            // Looked for only where it counts: at each word of a line without an end it would be looked for again and again.
            let line_end = self.rest.find('\n').unwrap_or(self.rest.len());
            if self.language == Language::Php
                && self.rest.get(..line_end).is_some_and(|comment| comment.contains("?>"))
            {
                self.breaks("the code ends with ?> in a comment");
            }
            self.skip(line_end);
            return true;
        }
        if has_slashes && self.rest.starts_with("/*") {
            let end = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
            self.skip(end);
            return true;
        }
        // Documentation of Perl and Ruby.
        if starts_line
            && matches!(self.language, Language::Perl | Language::Ruby)
            && self.rest.starts_with('=')
        {
            let word = self.rest.get(1..).unwrap_or_default();
            if ["begin", "pod", "head", "over", "item"].iter().any(|start| word.starts_with(start)) {
                let ends = |at: &usize| {
                    self.rest
                        .get(at + 2..)
                        .is_some_and(|rest| rest.starts_with("cut") || rest.starts_with("end"))
                };
                let end = self.rest.match_indices("\n=").map(|(at, _)| at).find(ends);
                self.skip(end.map_or(self.rest.len(), |at| at + 5));
                return true;
            }
        }
        false
    }

    fn token(&mut self, first: char) -> Kind {
        if matches!(first, '"' | '\'' | '`') {
            // A lifetime of Rust or a character: not a text of more than a line.
            if first == '\'' && self.language == Language::CLike {
                self.rune();
                return Kind::Sign(STRANGE);
            }
            return self.quoted("", first);
        }
        if first.is_ascii_digit() {
            let end = self
                .rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
                .unwrap_or(self.rest.len());
            let number = self.rest.get(..end).unwrap_or_default().to_owned();
            self.skip(end);
            return Kind::Number(number);
        }
        let is_symbol = first == ':' && self.language == Language::Ruby && {
            let mut next = self.rest.chars().skip(1);
            next.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        };
        if is_symbol {
            let end = self.rest.char_indices().skip(1).find(|(_, c)| !c.is_ascii_alphanumeric() && *c != '_');
            let end = end.map_or(self.rest.len(), |(at, _)| at);
            let symbol = self.rest.get(1..end).unwrap_or_default().to_owned();
            self.skip(end);
            return Kind::Text(Zeroizing::new(symbol));
        }
        if first.is_alphabetic() || matches!(first, '_' | '$' | '@' | '%' | '\\') {
            return self.name(first);
        }
        if first == '/' && self.is_regex_or_division() {
            self.breaks("whether a regular expression begins here is not known");
        }
        if first == '/'
            && !self.previous_is_value
            && matches!(self.language, Language::JavaScript | Language::Ruby | Language::Perl)
        {
            // A regular expression: its quotes are none.
            // Where none ended on this line, none will.
            let end = if self.line == self.no_regex_on { 1 } else { regex_end(self.rest) };
            if end == 1 {
                self.no_regex_on = self.line;
            }
            self.skip(end);
            return Kind::Name("/".into());
        }
        if first == '<' && self.heredoc() {
            return Kind::Sign(STRANGE);
        }
        if let Some(sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) {
            self.skip(sign.len());
            return Kind::Sign(sign);
        }
        self.skip(first.len_utf8());
        Kind::Sign(STRANGE)
    }

    /// Behind `if (…)`, a block, `yield` or `i++` a slash may be either; it matters where quotes or brackets stand up to the next one.
    fn is_regex_or_division(&self) -> bool {
        if self.language != Language::JavaScript {
            return false;
        }
        let mut last = self.tokens.iter().rev().map(|token| &token.kind);
        let is_open = match last.next() {
            Some(Kind::Sign(")" | "}")) => true,
            Some(Kind::Sign(sign @ ("+" | "-"))) => {
                matches!(last.next(), Some(Kind::Sign(before)) if before == sign)
            }
            Some(Kind::Name(name)) => matches!(
                name.as_str(),
                "yield" | "await" | "throw" | "new" | "delete" | "void" | "instanceof" | "do" | "async"
            ),
            _ => false,
        };
        is_open
            && self.rest.get(..regex_end(self.rest)).is_some_and(|candidate| {
                candidate.len() > 1 && candidate.contains(['"', '\'', '`', '(', ')', '[', ']', '{', '}', '*'])
            })
    }

    fn rune(&mut self) {
        let mut inside = self.rest.char_indices().skip(1);
        let end = match inside.next() {
            Some((_, '\\')) => inside.nth(1),
            Some(_) => inside.next(),
            None => None,
        };
        self.skip(end.filter(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1));
    }

    fn name(&mut self, first: char) -> Kind {
        let mut end = first.len_utf8();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '\\';
        loop {
            let rest = self.rest.get(end..).unwrap_or_default();
            let Some(next) = rest.chars().next() else { break };
            if is_part(next) {
                end += next.len_utf8();
                continue;
            }
            // What joins two names, directly in front of the second.
            let joint = ["::", "->", "?.", "."].into_iter().find(|joint| rest.starts_with(joint));
            let after = joint.and_then(|joint| rest.get(joint.len()..)).and_then(|rest| rest.chars().next());
            match joint {
                Some(joint)
                    if after.is_some_and(|c| c.is_alphabetic() || c == '_') && !self.joins_texts(joint) =>
                {
                    end += joint.len();
                }
                _ => break,
            }
        }
        let word = self.rest.get(..end).unwrap_or_default();
        let next = self.rest.get(end..).unwrap_or_default().chars().next();
        // f"…", rb'…', r#"…"#: what stands in front of a text says how it is read.
        let is_prefix = end <= 2 && word.chars().all(|c| "fFrRbBuU".contains(c));
        if let Some(quote @ ('"' | '\'')) = next
            && is_prefix
            && matches!(self.language, Language::Python | Language::CLike)
        {
            let prefix = word.to_ascii_lowercase();
            self.skip(end);
            return self.quoted(&prefix, quote);
        }
        // Perl's q(…) and qq{…}.
        if self.language == Language::Perl
            && matches!(word, "q" | "qq")
            && let Some(open @ ('{' | '(' | '/' | '|')) = next
        {
            let has_holes = word == "qq";
            self.skip(end + 1);
            let close = match open {
                '{' => '}',
                '(' => ')',
                same => same,
            };
            let length = self.rest.find(close).unwrap_or(self.rest.len());
            let inside = self.rest.get(..length).unwrap_or_default().to_owned();
            self.skip(length + 1);
            let inside = if has_holes { perl_holes(&inside) } else { inside };
            return Kind::Text(Zeroizing::new(inside));
        }
        let word = word.replace("?.", ".");
        self.skip(end);
        Kind::Name(word)
    }

    /// In PHP and Perl a dot stands between texts.
    fn joins_texts(&self, joint: &str) -> bool {
        joint == "." && matches!(self.language, Language::Php | Language::Perl)
    }

    fn quoted(&mut self, prefix: &str, quote: char) -> Kind {
        let one = quote.to_string();
        let three = one.repeat(3);
        let is_long = matches!(self.language, Language::Python | Language::CLike)
            && quote != '`'
            && self.rest.starts_with(&three);
        let mark = if is_long { three } else { one };
        self.skip(mark.len());
        let is_raw = prefix.contains('r')
            || (quote == '\'' && matches!(self.language, Language::Php | Language::Ruby | Language::Perl))
            || (quote == '`' && self.language == Language::CLike);
        let mut out = String::new();
        let mut end = self.rest.len();
        let mut has_end = false;
        let is_template = self.language == Language::JavaScript && quote == '`';
        // Braces that are open in `${…}` of a template: texts in it may have the same quotes.
        let mut depth = 0_usize;
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            if depth == 0 && self.rest.get(at..).is_some_and(|rest| rest.starts_with(&mark)) {
                (end, has_end) = (at, true);
                break;
            }
            if is_template {
                match letter {
                    '{' if depth > 0 || out.ends_with('$') => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            if letter == '\\' {
                let Some((_, next)) = letters.next() else { break };
                match next {
                    _ if is_raw && next != quote && next != '\\' => out.extend(['\\', next]),
                    'n' if !is_raw => out.push('\n'),
                    't' if !is_raw => out.push('\t'),
                    '\n' if !is_raw => {}
                    other => out.push(other),
                }
                continue;
            }
            if letter == '\n'
                && !is_long
                && matches!(self.language, Language::Python | Language::CLike | Language::JavaScript)
                && quote != '`'
            {
                // It has no end: what follows is no text.
                end = at;
                break;
            }
            out.push(letter);
        }
        if !has_end {
            self.breaks("a text that begins here has no end");
        }
        self.skip(end);
        if self.rest.starts_with(&mark) {
            self.skip(mark.len());
        }
        Kind::Text(Zeroizing::new(self.filled(&out, prefix, quote)))
    }

    /// With holes where the language puts values into a text.
    fn filled(&self, text: &str, prefix: &str, quote: char) -> String {
        match (self.language, quote) {
            (Language::JavaScript, '`') => between(text, "${", '}'),
            (Language::Ruby, '"' | '`') => between(text, "#{", '}'),
            (Language::Python, _) if prefix.contains('f') => between(text, "{", '}'),
            (Language::Php | Language::Perl, '"') => perl_holes(text),
            // %s and {} are filled in by whoever has the text.
            _ => between(&text.replace("%s", &HOLE.to_string()).replace("{}", &HOLE.to_string()), "${", '}'),
        }
    }
}

/// A name behind which a value stands, and no operator: a `/` there begins a regular expression.
fn is_word_before_value(name: &str) -> bool {
    matches!(
        name,
        "return"
            | "typeof"
            | "case"
            | "in"
            | "of"
            | "if"
            | "unless"
            | "and"
            | "or"
            | "not"
            | "when"
            | "split"
            | "else"
    )
}

fn between(text: &str, open: &str, close: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once(open) {
        out += before;
        out.push(HOLE);
        // What is filled in may have braces of its own.
        let mut depth = 0_usize;
        let end = inner.char_indices().find(|(_, letter)| match *letter {
            '{' => {
                depth += 1;
                false
            }
            letter if letter == close && depth == 0 => true,
            '}' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => false,
        });
        rest = end.and_then(|(at, _)| inner.get(at + close.len_utf8()..)).unwrap_or("");
    }
    out + rest
}

/// `$name`, `${name}`, `{$name->x}`, `@name` is left: an @ is common in addresses, and Perl's own warnings make people escape it.
fn perl_holes(text: &str) -> String {
    let text = between(&between(text, "${", '}'), "{$", '}');
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, inner)) = rest.split_once('$') {
        out += before;
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        out.push(if end == 0 { '$' } else { HOLE });
        rest = inner.get(end..).unwrap_or_default();
        // $config->{host}, $config['host'], $ENV{HOST}
        loop {
            let step = rest.strip_prefix("->").unwrap_or(rest);
            let close = match step.chars().next() {
                Some('{') if end > 0 => '}',
                Some('[') if end > 0 => ']',
                _ => break,
            };
            rest = step.split_once(close).map_or("", |(_, after)| after);
        }
    }
    out + rest
}

fn regex_end(text: &str) -> usize {
    let mut is_class = false;
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => return at + 1,
            '\n' => return 1,
            _ => {}
        }
    }
    1
}

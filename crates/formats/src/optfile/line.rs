//! One line: what the server reads in it, and where in its bytes that stands.
//!
//! Source: mysys/my_default.c of MariaDB 10.11, search_default_file_with_ext(), get_argument(), remove_end_comment();
//! each rule was tried with my_print_defaults 10.11.19.

use std::ops::Range;

use zeroize::Zeroizing;

use super::LINE_BYTES_MAX;
use super::error::{OptionFileError, Position};

/// One line with its bytes, its line feed included.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) raw: Zeroizing<Vec<u8>>,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    Blank,
    Comment,
    Group(Text),
    Option(OptionLine),
    Include { path: Vec<u8>, is_cut: bool },
    IncludeDir { path: Vec<u8>, is_cut: bool },
}

/// Text for people; `is_exact` is false if the bytes were not UTF-8.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) text: Zeroizing<String>,
    pub(super) is_exact: bool,
}

#[derive(Clone)]
pub(super) struct OptionLine {
    pub(super) key: Text,
    /// End of the key in `raw`, before any space and `=`.
    pub(super) key_end: usize,
    pub(super) value: Option<Value>,
}

#[derive(Clone)]
pub(super) struct Value {
    pub(super) text: Text,
    /// Where the value stands in `raw`, quotes included; an empty one is an empty range right after `=`.
    pub(super) at: Range<usize>,
}

/// What is wrong with a line, before we know its number.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    LineTooLong,
    NulByte,
    UnclosedGroup,
    DirectiveWithoutPath,
    EmptyKey,
}

impl Fault {
    pub(super) fn at(self, file: &str, line: usize, raw: &[u8]) -> OptionFileError {
        let at = Position::new(file, line, raw);
        match self {
            Fault::LineTooLong => {
                OptionFileError::LineTooLong { at, bytes: raw.len(), bytes_max: LINE_BYTES_MAX }
            }
            Fault::NulByte => OptionFileError::NulByte { at },
            Fault::UnclosedGroup => OptionFileError::UnclosedGroup { at },
            Fault::DirectiveWithoutPath => OptionFileError::DirectiveWithoutPath { at },
            Fault::EmptyKey => OptionFileError::EmptyKey { at },
        }
    }
}

impl Text {
    fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        Text { is_exact: text.as_bytes() == bytes, text: Zeroizing::new(text) }
    }
}

impl OptionLine {
    pub(super) fn is_exact(&self) -> bool {
        self.key.is_exact && self.value.as_ref().is_none_or(|value| value.text.is_exact)
    }
}

impl Line {
    /// Reads one line with its line feed; only the last line of a file may have none.
    pub(super) fn read(raw: &[u8]) -> Result<Line, Fault> {
        let content = raw.strip_suffix(b"\n").unwrap_or(raw);
        if content.len() > LINE_BYTES_MAX {
            return Err(Fault::LineTooLong);
        }
        if content.contains(&0) {
            return Err(Fault::NulByte);
        }
        let start = skip_space(content, 0);
        let kind = match content.get(start) {
            None => Kind::Blank,
            Some(b'#' | b';') => Kind::Comment,
            Some(b'!') => read_directive(raw, start)?,
            Some(b'[') => read_group(content, start)?,
            Some(_) => read_option(content, start)?,
        };
        Ok(Line { raw: Zeroizing::new(raw.to_vec()), kind })
    }

    /// `\r\n` or `\n` as this line has it; empty for a last line without.
    pub(super) fn line_end(&self) -> &'static str {
        if self.raw.ends_with(b"\r\n") {
            "\r\n"
        } else if self.raw.ends_with(b"\n") {
            "\n"
        } else {
            ""
        }
    }
}

/// White space as the server's latin1 table has it. 0xA0 is the no-break space there, and so the last byte of a UTF-8
/// "à" at the end of an unquoted value is lost.
// Seen: my_print_defaults 10.11.19 prints `a=x\xc3` for the line `a=xà`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0xa0)
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| is_space(**byte)).count()
}

/// The end of `bytes[..end]` without the white space before it, not below `least`.
fn trim_end(bytes: &[u8], least: usize, end: usize) -> usize {
    let part = bytes.get(least..end).unwrap_or_default();
    let spaces = part.iter().rev().take_while(|byte| is_space(**byte)).count();
    least + part.len() - spaces
}

fn read_group(content: &[u8], bracket: usize) -> Result<Kind, Fault> {
    let start = bracket + 1;
    let rest = content.get(start..).unwrap_or_default();
    let length = rest.iter().position(|byte| *byte == b']').ok_or(Fault::UnclosedGroup)?;
    // Spaces before the name belong to it; what follows the bracket is ignored.
    let end = trim_end(content, start, start + length);
    let name = content.get(start..end).unwrap_or_default();
    Ok(Kind::Group(Text::new(name)))
}

fn read_directive(raw: &[u8], bang: usize) -> Result<Kind, Fault> {
    let word = skip_space(raw, bang + 1);
    let rest = raw.get(word..).unwrap_or_default();
    let (is_dir, keyword_bytes) = if rest.starts_with(b"includedir") {
        (true, "includedir".len())
    } else if rest.starts_with(b"include") {
        (false, "include".len())
    } else {
        return Ok(Kind::Comment);
    };
    if !rest.get(keyword_bytes).is_some_and(|byte| is_space(*byte)) {
        return Ok(Kind::Comment);
    }
    let start = skip_space(raw, word + keyword_bytes);
    // Source: get_argument() takes the last byte for the line feed and drops it, also where the file ends without one.
    // Seen: my_print_defaults 10.11.19 reads `!include i.cnf` without a line feed as `i.cn`.
    let last = raw.len().saturating_sub(1);
    let end = trim_end(raw, start.min(last), last);
    if end <= start {
        return Err(Fault::DirectiveWithoutPath);
    }
    let path = raw.get(start..end).unwrap_or_default().to_vec();
    let is_cut = raw.last().is_some_and(|byte| !is_space(*byte));
    Ok(if is_dir { Kind::IncludeDir { path, is_cut } } else { Kind::Include { path, is_cut } })
}

fn read_option(content: &[u8], start: usize) -> Result<Kind, Fault> {
    let content = without_end_comment(content, start);
    let equals = content.iter().skip(start).position(|byte| *byte == b'=').map(|offset| start + offset);
    let key_end = trim_end(content, start, equals.unwrap_or(content.len()));
    if key_end == start {
        return Err(Fault::EmptyKey);
    }
    let key = Text::new(content.get(start..key_end).unwrap_or_default());
    let value = equals.map(|equals| read_value(content, equals + 1));
    Ok(Kind::Option(OptionLine { key, key_end, value }))
}

fn read_value(content: &[u8], after_equals: usize) -> Value {
    let start = skip_space(content, after_equals);
    let end = trim_end(content, after_equals, content.len());
    if end <= start {
        return Value { text: Text::new(b""), at: after_equals..after_equals };
    }
    let written = content.get(start..end).unwrap_or_default();
    let value = Zeroizing::new(unescape(without_quotes(written)));
    Value { text: Text::new(&value), at: start..end }
}

/// Quotes go if the value starts and ends with the same one; what stands between is not looked at.
fn without_quotes(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        _ => value,
    }
}

/// An unknown escape keeps its backslash, as does one at the very end.
fn unescape(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(b'r') => plain.push(b'\r'),
            Some(b'b') => plain.push(0x08),
            Some(b's') => plain.push(b' '),
            Some(same @ (b'"' | b'\'' | b'\\')) => plain.push(same),
            Some(other) => plain.extend([b'\\', other]),
            None => plain.push(b'\\'),
        }
    }
    plain
}

/// The line up to a `#` outside of quotes. A backslash protects a quote only inside of quotes, and `#` never.
fn without_end_comment(content: &[u8], start: usize) -> &[u8] {
    let mut quote = None;
    let mut is_escaped = false;
    for (index, byte) in content.iter().copied().enumerate().skip(start) {
        if matches!(byte, b'\'' | b'"') && !is_escaped {
            match quote {
                None => quote = Some(byte),
                Some(open) if open == byte => quote = None,
                Some(_) => {}
            }
        }
        if quote.is_none() && byte == b'#' {
            return content.get(..index).unwrap_or(content);
        }
        is_escaped = quote.is_some() && byte == b'\\' && !is_escaped;
    }
    content
}

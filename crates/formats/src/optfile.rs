//! One option file (`my.cnf`) in one buffer: read it as the server does, change it without touching another byte.
//!
//! The reading follows `mysys/my_default.c` of MariaDB 10.11, and a property test in the `server` crate compares it with
//! the real `my_print_defaults`. Includes are items here; following them (and the order of several files) is the work of
//! `server::options`, because this crate knows no file system.
//!
//! Where we are stricter than the server: a NUL byte, a line longer than [`LINE_BYTES_MAX`] and an option without a name
//! are errors. The server would silently read half a line, cut the line in two, or stop later with a puzzling text.
//!
//! Start with [`OptionFile::parse`]; the rules for one line are in `line.rs`, for writing in `edit.rs`.

mod edit;
mod error;
mod line;

use std::fmt;

use zeroize::Zeroizing;

pub use error::{OptionFileError, Position};
use line::{Kind, Line};

/// Largest option file we read, in bytes. Real ones are below 100 KiB; a larger one is a wrong path, not a configuration.
pub const OPTION_FILE_BYTES_MAX: usize = 1024 * 1024;

/// Longest line, in bytes, without the line feed.
// Seen: my_print_defaults 10.11.19 reads lines into 4095 bytes with the final NUL; a longer line is cut and its rest is
// read as if it were the next line.
pub const LINE_BYTES_MAX: usize = 4094;

/// One option file: its lines, each with its bytes as they were and what the server reads in it.
#[derive(Clone)]
pub struct OptionFile {
    name: String,
    lines: Vec<Line>,
}

/// One option as the server reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptionItem<'a> {
    /// Name of the group, as written between the brackets, without the spaces before `]`.
    pub group: &'a str,
    /// Name of the option, as written.
    pub key: &'a str,
    /// Value without quotes and escapes; `None` for an option without `=`.
    pub value: Option<&'a str>,
    /// False if group, key or value are not UTF-8, so that they hold replacement characters here.
    pub is_exact: bool,
    /// Line number, the first is 1.
    pub line: usize,
}

/// One line of an option file, in reading order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// `[name]`
    Group {
        /// Name as written, without the spaces before `]`.
        name: &'a str,
        /// Line number, the first is 1.
        line: usize,
    },
    /// `key` or `key = value`
    Option(OptionItem<'a>),
    /// `!include path`
    Include {
        /// Path as the server reads it: a relative one counts from the working directory of the reading process.
        path: &'a [u8],
        /// Line number, the first is 1.
        line: usize,
        /// True if the last line of the file has no line feed and the server therefore lost the path's last character.
        is_cut: bool,
    },
    /// `!includedir path`
    IncludeDir {
        /// Path as the server reads it.
        path: &'a [u8],
        /// Line number, the first is 1.
        line: usize,
        /// As in [`Item::Include`].
        is_cut: bool,
    },
    /// A comment, or a line with `!` and an unknown word, which the server passes over.
    Comment {
        /// Line number, the first is 1.
        line: usize,
    },
    /// An empty line or one of white space.
    Blank {
        /// Line number, the first is 1.
        line: usize,
    },
}

impl OptionFile {
    /// Reads one whole option file. `name` is its path, for error texts only.
    ///
    /// # Errors
    /// The first line that the server would refuse, or that we refuse because the server would misread it.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, OptionFileError> {
        match Self::parse_until_error(bytes, name) {
            (file, None) => Ok(file),
            (_, Some(error)) => Err(error),
        }
    }

    /// Reads as far as the server does: all lines before the first error, and that error.
    ///
    /// The server needs this for an included file: it keeps what it read before the mistake and goes on with the file
    /// that included it. Do not write such a half file back.
    pub fn parse_until_error(bytes: &[u8], name: &str) -> (Self, Option<OptionFileError>) {
        let mut file = OptionFile { name: name.to_owned(), lines: Vec::new() };
        if bytes.len() > OPTION_FILE_BYTES_MAX {
            let error = OptionFileError::TooLarge {
                file: name.to_owned(),
                bytes: bytes.len(),
                bytes_max: OPTION_FILE_BYTES_MAX,
            };
            return (file, Some(error));
        }
        let mut has_group = false;
        for (index, raw) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = match Line::read(raw) {
                Ok(line) => line,
                Err(fault) => return (file, Some(fault.at(name, index + 1, raw))),
            };
            match line.kind {
                Kind::Group(_) => has_group = true,
                Kind::Option(_) if !has_group => {
                    let error = OptionFileError::OptionBeforeGroup {
                        at: Position::new(name, index + 1, raw),
                        has_byte_order_mark: bytes.starts_with(b"\xef\xbb\xbf"),
                    };
                    return (file, Some(error));
                }
                _ => {}
            }
            file.lines.push(line);
        }
        (file, None)
    }

    /// The name given to [`OptionFile::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole file again; without an edit, exactly the bytes that were parsed.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let bytes = self.lines.iter().map(|line| line.raw.len()).sum();
        let mut all = Vec::with_capacity(bytes);
        for line in &self.lines {
            all.extend_from_slice(&line.raw);
        }
        Zeroizing::new(all)
    }

    /// All lines in reading order.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut group = "";
        self.lines.iter().enumerate().map(move |(index, each)| {
            let line = index + 1;
            match &each.kind {
                Kind::Blank => Item::Blank { line },
                Kind::Comment => Item::Comment { line },
                Kind::Group(name) => {
                    group = name.text.as_str();
                    Item::Group { name: group, line }
                }
                Kind::Include { path, is_cut } => Item::Include { path, line, is_cut: *is_cut },
                Kind::IncludeDir { path, is_cut } => Item::IncludeDir { path, line, is_cut: *is_cut },
                Kind::Option(option) => Item::Option(OptionItem {
                    group,
                    key: &option.key.text,
                    value: option.value.as_ref().map(|value| value.text.text.as_str()),
                    is_exact: option.is_exact(),
                    line,
                }),
            }
        })
    }

    /// The option that counts: the last one with this key in any of these groups, as all groups that a program reads
    /// count alike. Includes are not followed.
    pub fn get(&self, groups: &[&str], key: &str) -> Option<OptionItem<'_>> {
        self.items()
            .filter_map(|item| match item {
                Item::Option(option) => Some(option),
                _ => None,
            })
            .filter(|option| groups.iter().any(|group| groups_equal(group, option.group)))
            .filter(|option| keys_equal(key, option.key))
            .last()
    }
}

/// Blind: an option file may hold passwords.
impl fmt::Debug for OptionFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OptionFile")
            .field("name", &self.name)
            .field("lines", &self.lines.len())
            .finish()
    }
}

/// Blind for keys that hold a secret, see [`is_secret_key`].
impl fmt::Debug for OptionItem<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self.value {
            Some(_) if is_secret_key(self.key) => Some("(not shown)"),
            other => other,
        };
        formatter
            .debug_struct("OptionItem")
            .field("group", &self.group)
            .field("key", &self.key)
            .field("value", &value)
            .field("is_exact", &self.is_exact)
            .field("line", &self.line)
            .finish()
    }
}

/// The key with `_` for every `-`: `ssl-ca` and `ssl_ca` are the same option.
pub fn normalise_key(key: &str) -> String {
    key.replace('-', "_")
}

/// True for a line that starts with `!`, white space aside. The server looks no further at such a line where includes
/// stand too deep in each other, not even for mistakes.
pub fn is_directive(line: &[u8]) -> bool {
    line.iter().find(|byte| !line::is_space(**byte)) == Some(&b'!')
}

/// True if the option's value is or contains a secret and must not be printed.
pub fn is_secret_key(key: &str) -> bool {
    const WORDS: [&str; 11] = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "credential",
        "sst_auth",
        "filekey",
        "encrypt_key",
        "encryption_key",
    ];
    // Servers and clients take an option by any prefix that is clear: `--passw`, `file_key_management_filek`.
    const NAMES: [&str; 4] = ["password", "wsrep_sst_auth", "file_key_management_filekey", "encrypt_key"];
    // `wsrep_sst_auth` is `user:password`. A key that only names a file with a secret is hidden too: better once too often.
    let key = normalise_key(key).to_ascii_lowercase();
    let key = ["loose_", "maximum_"]
        .iter()
        .fold(key.as_str(), |key, prefix| key.strip_prefix(prefix).unwrap_or(key));
    let is_prefix = |name: &&str| name.starts_with(key) && key.len() >= PREFIX_CHARS_MIN.min(name.len() / 2);
    WORDS.iter().any(|word| key.contains(word)) || NAMES.iter().any(is_prefix)
}

/// Shorter ones are the beginning of too many names.
const PREFIX_CHARS_MIN: usize = 20;

/// True if the value itself looks like a secret, whatever its key is called: a statement that sets a password, a URL with one, or
/// a long run of digits and letters without sense.
pub fn is_secret_value(value: &str) -> bool {
    const WORDS: [&str; 5] = ["password", "identified", "passphrase", "secret", "token"];
    let lower = value.to_ascii_lowercase();
    let is_url_with_login = lower.split_once("://").is_some_and(|(_, rest)| {
        rest.split(['/', '?'])
            .next()
            .is_some_and(|authority| authority.rsplit_once('@').is_some_and(|(login, _)| login.contains(':')))
    });
    is_url_with_login
        || WORDS.iter().any(|word| lower.contains(word))
        || value.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '='))).any(is_random)
}

/// A key of 128 bits or more in hexadecimal or Base64. Names of files and hosts are shorter, or have no such mixture.
fn is_random(word: &str) -> bool {
    const CHARS_MIN: usize = 20;
    let count = |of: fn(&char) -> bool| word.chars().filter(of).count();
    let digits = count(char::is_ascii_digit);
    let changes = word
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [one, other] if one.is_ascii_digit() != other.is_ascii_digit()))
        .count();
    word.len() >= CHARS_MIN && digits > 0 && digits < word.len() && changes >= 4
}

/// A line of an option file as it may be shown: without the value of an option, or of one that was commented out, that is a
/// secret.
pub fn shown_line(line: &str) -> String {
    const HIDDEN: &str = "********";
    let text = line.trim_start();
    let is_comment = text.starts_with(['#', ';']);
    match line.split_once('=') {
        Some((key, value)) => {
            let bare = key.trim().trim_start_matches(['#', ';', ' ', '\t']);
            let last = bare.rsplit([' ', '\t']).next().unwrap_or(bare);
            if is_secret_key(bare) || is_secret_key(last) || is_secret_value(value) {
                format!("{key}={HIDDEN}")
            } else {
                line.to_owned()
            }
        }
        // `password hunter2`, where somebody forgot the `=`, or a remark.
        None if text.split_once([' ', '\t']).is_some() && (is_secret_value(text) || is_secret_key(text)) => {
            let start = text.split([' ', '\t']).next().unwrap_or_default();
            format!("{} {HIDDEN}", if is_comment { "#" } else { start })
        }
        None => line.to_owned(),
    }
}

/// A key for people. Where somebody forgot the `=`, the value is a part of the key, and may be a password.
pub fn shown_key(key: &str) -> std::borrow::Cow<'_, str> {
    match key.split_once([' ', '\t']) {
        Some((word, _)) => format!("{word} (not shown: no = stands behind it)").into(),
        None => key.into(),
    }
}

/// `-` and `_` are the same; upper and lower case are not.
fn keys_equal(a: &str, b: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| fold(a) == fold(b))
}

// Seen: my_print_defaults 10.11.19 asked for group `g` reads `[G]` too; `[ g]` it does not.
/// Upper and lower case are the same in names of groups.
pub fn groups_equal(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

#[cfg(test)]
mod tests;

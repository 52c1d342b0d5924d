//! What can be wrong with an option file, in words for its owner.

use std::fmt;

/// Longest piece of a line that an error text quotes, in characters.
const QUOTE_CHARS_MAX: usize = 60;

/// A place in an option file. The quoted text ends at the first `=`: the value may be a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file.
    pub file: String,
    /// Line number, the first is 1.
    pub line: usize,
    /// The beginning of the offending line, without a value.
    pub text: String,
}

impl Position {
    pub(super) fn new(file: &str, line: usize, raw: &[u8]) -> Self {
        let end = raw.iter().position(|byte| *byte == b'=');
        let shown = end.map_or(raw, |end| raw.get(..=end).unwrap_or(raw));
        let shown = String::from_utf8_lossy(shown);
        let shown = shown.trim();
        let mut text: String = shown.chars().take(QUOTE_CHARS_MAX).collect();
        if end.is_some() || shown.chars().count() > QUOTE_CHARS_MAX {
            text.push('…');
        }
        Position { file: file.to_owned(), line, text: text.escape_debug().to_string() }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: \"{}\"", self.file, self.line, self.text)
    }
}

/// Why an option file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionFileError {
    /// The file is larger than [`super::OPTION_FILE_BYTES_MAX`].
    #[error(
        "{file} is too large for an option file\n  why:  it has {bytes} bytes; the limit is {bytes_max}\n  next: check the path"
    )]
    TooLarge {
        /// Name of the file.
        file: String,
        /// Size of the file.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The server would cut the line and read its rest as a line of its own.
    #[error(
        "{at} is too long\n  why:  the line has {bytes} bytes; the server reads {bytes_max} and reads the rest as a new line\n  next: shorten the line, or spread it over several options"
    )]
    LineTooLong {
        /// Where.
        at: Position,
        /// Length of the line.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The server would not see what follows the NUL.
    #[error(
        "{at} contains a NUL byte\n  why:  the server stops reading the line there\n  next: check that this is a text file (not UTF-16), and remove the byte"
    )]
    NulByte {
        /// Where.
        at: Position,
    },
    /// An option stands before the first `[group]`.
    #[error(
        "{at} stands before any group\n  why:  {}\n  next: put a line such as [mysqld] above it",
        if *.has_byte_order_mark { "the file starts with a byte order mark, so the server does not see the first group; it refuses such a file" } else { "the server refuses a file with an option outside of a [group]" }
    )]
    OptionBeforeGroup {
        /// Where.
        at: Position,
        /// True if the file starts with the UTF-8 byte order mark, the usual reason.
        has_byte_order_mark: bool,
    },
    /// `[name` without `]`.
    #[error(
        "{at} starts a group but has no ]\n  why:  the server refuses the file here\n  next: write the line as [name]"
    )]
    UnclosedGroup {
        /// Where.
        at: Position,
    },
    /// `!include` or `!includedir` without a path.
    #[error(
        "{at} names no path\n  why:  the server refuses an include line without one\n  next: add the path, or remove the line"
    )]
    DirectiveWithoutPath {
        /// Where.
        at: Position,
    },
    /// `= value`.
    #[error(
        "{at} has a value but no option name\n  why:  the line starts with '='\n  next: write the name before '=', or remove the line"
    )]
    EmptyKey {
        /// Where.
        at: Position,
    },
    /// An edit asks for something that an option file cannot hold.
    #[error("cannot write [{group}] {key} into {file}\n  why:  {why}\n  next: {next}")]
    CannotBeWritten {
        /// Name of the file.
        file: String,
        /// The group asked for.
        group: String,
        /// The option asked for.
        key: String,
        /// The reason.
        why: String,
        /// What to do.
        next: String,
    },
}

//! Files in which applications keep their settings, as values with the line that each stands on.
//!
//! Nothing is run and nothing is looked up: what a file only says by way of a variable, a template or code becomes
//! [`Value::Unread`], or a name that whoever knows the file may look up. Nothing here knows what a database is.
//!
//! Start with [`tree`]; [`yaml`], [`code`] and [`pairs`] make trees or pairs of bytes, [`url`] takes one text apart.

pub mod code;
pub mod pairs;
pub mod tree;
pub mod url;
pub mod yaml;

pub use tree::{Entry, Node, Value};

/// Largest file of settings that is read, in bytes. Larger ones are data or bundles, not what a person wrote.
pub const SETTINGS_BYTES_MAX: usize = 1024 * 1024;

/// How deep values may stand in each other.
pub const DEPTH_MAX: usize = 48;

/// How many values one file may have, those of aliases counted each time: small files can name very many.
pub const NODES_MAX: usize = 200_000;

/// Stands in a text for a part that only a running program knows.
pub const HOLE: char = '\u{fffc}';

/// Why a file of settings cannot be read. Never has a word of the file in it: it may be a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("it has {bytes} bytes, and settings end at {SETTINGS_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("line {line}: {why}")]
    Syntax { line: usize, why: &'static str },
    #[error("line {line}: it holds more values than settings do")]
    TooMany { line: usize },
}

impl SettingsError {
    /// Where, the first line is 1.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::TooLarge { .. } => None,
            Self::Syntax { line, .. } | Self::TooMany { line } => Some(*line),
        }
    }
}

/// The text of a file. What is no UTF-8 becomes replacement characters: names of options are plain, and no value with
/// such a character is one that we know.
///
/// # Errors
/// [`SettingsError::TooLarge`]
pub fn text(bytes: &[u8]) -> Result<zeroize::Zeroizing<String>, SettingsError> {
    if bytes.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsError::TooLarge { bytes: bytes.len() });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Ok(zeroize::Zeroizing::new(String::from_utf8_lossy(bytes).into_owned()))
}

/// The text with a [`HOLE`] for each `${…}`, `$(…)`, `{{…}}`, `<%…%>` and `#{…}`: the templates of shells, compose files, Spring,
/// Helm, ERB and Ruby. `$NAME` alone is one too where `has_bare` says so.
pub fn with_holes(text: &str, has_bare: bool) -> String {
    const PAIRS: [(&str, &str); 5] = [("${", "}"), ("$(", ")"), ("{{", "}}"), ("<%", "%>"), ("#{", "}")];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    'text: while let Some(first) = rest.chars().next() {
        for (open, close) in PAIRS {
            if let Some(inner) = rest.strip_prefix(open) {
                out.push(HOLE);
                rest = inner.split_once(close).map_or("", |(_, after)| after);
                continue 'text;
            }
        }
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        if first == '$'
            && has_bare
            && after.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
        {
            out.push(HOLE);
            rest = after.trim_start_matches(|next: char| next.is_ascii_alphanumeric() || next == '_');
            continue;
        }
        out.push(first);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_running_program_would_fill_in_is_a_hole() {
        let check = |text: &str, bare: bool, want: &str| assert_eq!(with_holes(text, bare), want, "{text}");
        check("jdbc:mysql://${HOST:db}/x?a=1", false, "jdbc:mysql://\u{fffc}/x?a=1");
        check("a $(b) {{ c }} <%= d %> #{e}", false, "a \u{fffc} \u{fffc} \u{fffc} \u{fffc}");
        check("$A-$b_1/$$", true, "\u{fffc}-\u{fffc}/$$");
        check("pa$word", false, "pa$word");
        check("open ${ without an end", false, "open \u{fffc}");
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        assert!(matches!(text(&vec![b' '; SETTINGS_BYTES_MAX + 1]), Err(SettingsError::TooLarge { .. })));
        assert_eq!(text(b"\xef\xbb\xbfa\xff").expect("short").as_str(), "a\u{fffd}");
    }
}

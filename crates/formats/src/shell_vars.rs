//! Files of variables that a start script reads as a shell does: `/etc/default/garb`, `/etc/sysconfig/garb`.
//!
//! A shell could run anything in such a file. Only files that assign literal values, each on a line of its own, are understood; of
//! any other nothing is said but where it begins. Edits change one assignment, every other byte stays.

use thiserror::Error;

pub const SHELL_FILE_BYTES_MAX: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShellVarsError {
    #[error("{file}: {bytes} bytes, more than {SHELL_FILE_BYTES_MAX}")]
    TooLarge { file: String, bytes: usize },
    #[error("{file}:{line}: {why}")]
    Unclear { file: String, line: usize, why: String },
    #[error("{file}: {key} cannot be set to this value: {why}")]
    CannotBeWritten { file: String, key: String, why: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    /// A comment, or blank.
    Silent,
    Assignment {
        key: String,
        /// `None`: it depends on something else (`$NAME`, a command).
        value: Option<String>,
    },
}

/// One such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellVars {
    file: String,
    /// With their line feeds.
    lines: Vec<(String, Line)>,
}

impl ShellVars {
    /// # Errors
    /// It has a line that is neither blank, a comment nor an assignment of one variable: what a shell would make of the file cannot
    /// be told.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Self, ShellVarsError> {
        if bytes.len() > SHELL_FILE_BYTES_MAX {
            return Err(ShellVarsError::TooLarge { file: file.to_owned(), bytes: bytes.len() });
        }
        let unclear = |line: usize, why: &str| ShellVarsError::Unclear {
            file: file.to_owned(),
            line,
            why: why.to_owned(),
        };
        let mut lines = Vec::new();
        for (at, raw) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let raw = std::str::from_utf8(raw).map_err(|_| unclear(at + 1, "the line is not UTF-8"))?;
            let line =
                read_line(raw.strip_suffix('\n').unwrap_or(raw)).map_err(|why| unclear(at + 1, why))?;
            lines.push((raw.to_owned(), line));
        }
        let vars = Self { file: file.to_owned(), lines };
        // `${NAME:=word}` and the like assign too.
        for (at, (raw, line)) in vars.lines.iter().enumerate() {
            if matches!(line, Line::Assignment { value: None, .. }) && raw.contains("${") && raw.contains('=')
            {
                let after = raw.split_once('=').map_or("", |(_, value)| value);
                if after.contains(":=") || after.split("${").skip(1).any(assigns) {
                    return Err(unclear(at + 1, "an expansion that may assign a variable"));
                }
            }
        }
        Ok(vars)
    }

    fn last(&self, key: &str) -> Option<usize> {
        self.lines
            .iter()
            .rposition(|(_, line)| matches!(line, Line::Assignment { key: name, .. } if name == key))
    }

    /// Its value and its line, counted from 1; the last assignment counts, as in a shell.
    ///
    /// # Errors
    /// The value depends on something else.
    pub fn get(&self, key: &str) -> Result<Option<(&str, usize)>, ShellVarsError> {
        let Some(at) = self.last(key) else { return Ok(None) };
        match self.lines.get(at) {
            Some((_, Line::Assignment { value: Some(value), .. })) => Ok(Some((value, at + 1))),
            _ => Err(ShellVarsError::Unclear {
                file: self.file.clone(),
                line: at + 1,
                why: format!("the value of {key} depends on something that only a shell can tell"),
            }),
        }
    }

    /// Replaces the value of the last assignment, or adds one at the end.
    ///
    /// # Errors
    /// The value cannot stand in quotes, or the present one is not a literal; the file is as before.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ShellVarsError> {
        let refused = |why: &str| ShellVarsError::CannotBeWritten {
            file: self.file.clone(),
            key: key.to_owned(),
            why: why.to_owned(),
        };
        if !is_name(key) {
            return Err(refused("this is not the name of a variable"));
        }
        // Start scripts put it into single quotes once more (garb-systemd does).
        if value.contains(['\'', '"', '\\', '$', '`', '\n', '\r', '\0', '!']) {
            return Err(refused("it has a quote, a backslash, a dollar sign, a backtick or a line feed"));
        }
        self.get(key)?;
        let written = format!("\"{value}\"");
        let line = Line::Assignment { key: key.to_owned(), value: Some(value.to_owned()) };
        let Some(at) = self.last(key) else {
            if let Some((last, _)) = self.lines.last_mut()
                && !last.ends_with('\n')
            {
                last.push('\n');
            }
            self.lines.push((format!("{key}={written}\n"), line));
            return Ok(());
        };
        if let Some((raw, is)) = self.lines.get_mut(at) {
            let start = raw.find('=').map_or(raw.len(), |equals| equals + 1);
            let end = start + literal(&raw[start..]).map_or(0, |(_, bytes)| bytes);
            raw.replace_range(start..end, &written);
            *is = line;
        }
        Ok(())
    }

    /// Removes every assignment of this variable; says how many.
    pub fn remove(&mut self, key: &str) -> usize {
        let before = self.lines.len();
        self.lines.retain(|(_, line)| !matches!(line, Line::Assignment { key: name, .. } if name == key));
        before - self.lines.len()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|(raw, _)| raw.bytes()).collect()
    }
}

/// Behind `${`: `NAME=` or `NAME:=` assigns.
fn assigns(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    rest.starts_with('=') || rest.starts_with(":=")
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The literal that `text` begins with, and how many bytes of it that is. `None`: it is none, or goes on in the next line.
fn literal(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => return Some((value, at)),
            '\'' | '"' => loop {
                match chars.next()? {
                    (_, end) if end == c => break,
                    (_, '$' | '`' | '\\') if c == '"' => return None,
                    (_, '\n') => return None,
                    (_, inner) => value.push(inner),
                }
            },
            // `~` and patterns are not expanded in an assignment's middle, but nobody has to know that.
            '$' | '`' | '\\' | '~' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '*' | '?'
            | '[' | '#' | '\r' => {
                return None;
            }
            _ => value.push(c),
        }
    }
    Some((value, text.len()))
}

/// Whether the quotes of a value that is not a literal end in its line, and nothing but a comment follows them.
fn ends_in_its_line(text: &str) -> bool {
    let (mut quote, mut escaped, mut depth) = (None, false, 0_u32);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (c, quote) {
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(', None) if text[..at].ends_with('$') || depth > 0 => depth += 1,
            (')', None) if depth > 0 => depth -= 1,
            (';' | '&' | '|' | '<' | '>' | '(' | ')', None) if depth == 0 => return false,
            (' ' | '\t', None) if depth == 0 => {
                let rest = text[at..].trim_start();
                return rest.is_empty() || rest.starts_with('#');
            }
            _ => {}
        }
    }
    quote.is_none() && !escaped && depth == 0
}

const NOT_ONE: &str =
    "this is not the assignment of one variable, so what a shell makes of it cannot be told";

fn read_line(line: &str) -> Result<Line, &'static str> {
    let text = line.trim_start_matches([' ', '\t']);
    if text.is_empty() || text.starts_with('#') {
        return Ok(Line::Silent);
    }
    if line.contains('\r') {
        return Err("the line ends with a carriage return, which a shell takes for a part of it");
    }
    let text = text.strip_prefix("export ").map_or(text, |rest| rest.trim_start_matches([' ', '\t']));
    let (key, value) = text.split_once('=').ok_or(NOT_ONE)?;
    if !is_name(key) {
        return Err(NOT_ONE);
    }
    let key = key.to_owned();
    match literal(value) {
        Some((literal, bytes)) => {
            let rest = value[bytes..].trim_start_matches([' ', '\t']);
            // `NAME=value command` sets it for the command alone.
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(NOT_ONE);
            }
            Ok(Line::Assignment { key, value: Some(literal) })
        }
        None if ends_in_its_line(value) => Ok(Line::Assignment { key, value: None }),
        None => Err(NOT_ONE),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    const GARB: &str = "# Copyright (C) 2012 Codership Oy\n\n# GALERA_NODES=\"\"\nGALERA_NODES=\"10.0.0.1:4567, 10.0.0.2\"\n\
                        GALERA_GROUP='orders' # of production\n  GALERA_OPTIONS=gmcast.segment=1  \nLOG_FILE=\"$DIR/garbd.log\"\n";

    fn vars(text: &str) -> ShellVars {
        ShellVars::parse(text.as_bytes(), "/etc/default/garb").unwrap()
    }

    #[test]
    fn a_file_of_the_package_is_read() {
        let file = vars(GARB);
        assert_eq!(file.get("GALERA_NODES").unwrap(), Some(("10.0.0.1:4567, 10.0.0.2", 4)));
        assert_eq!(file.get("GALERA_GROUP").unwrap(), Some(("orders", 5)));
        assert_eq!(file.get("GALERA_OPTIONS").unwrap(), Some(("gmcast.segment=1", 6)));
        assert_eq!(file.get("WORK_DIR").unwrap(), None);
        assert!(file.get("LOG_FILE").unwrap_err().to_string().contains("/etc/default/garb:7"));
    }

    #[test]
    fn an_edit_changes_one_value_and_nothing_else() {
        let mut file = vars(GARB);
        file.set("GALERA_GROUP", "others").unwrap();
        file.set("GALERA_OPTIONS", "a=1;b=2").unwrap();
        let text = String::from_utf8(file.to_bytes()).unwrap();
        let wished = GARB
            .replace("'orders'", "\"others\"")
            .replace("GALERA_OPTIONS=gmcast.segment=1", "GALERA_OPTIONS=\"a=1;b=2\"");
        assert_eq!(text, wished);
    }

    #[test]
    fn what_is_new_stands_at_the_end_and_goes_again() {
        let mut file = vars("A=1\n");
        file.set("B", "two words").unwrap();
        assert_eq!(file.to_bytes(), b"A=1\nB=\"two words\"\n");
        assert_eq!(file.remove("B"), 1);
        assert_eq!(file.to_bytes(), b"A=1\n");
    }

    #[test]
    fn the_last_of_two_counts() {
        let mut file = vars("A=1\nA=2\n");
        assert_eq!(file.get("A").unwrap(), Some(("2", 2)));
        file.set("A", "3").unwrap();
        assert_eq!(file.to_bytes(), b"A=1\nA=\"3\"\n");
    }

    #[test]
    fn what_only_a_shell_can_tell_is_said_with_its_line() {
        for line in [
            "if true; then A=1; fi",
            ". /etc/default/other",
            "A=1 command",
            "A=1; B=2",
            "A=\"1",
            "A=1\\",
            "A+=1",
            "unset A",
            "A=(1 2)",
            "A=1\r",
            "B=$(cat <<E",
            "B=\"${A:=x}\"",
            "B=${A=x}",
            "A='x'\"$(y",
        ] {
            let error = ShellVars::parse(format!("# first\n{line}\n").as_bytes(), "f");
            assert!(
                error.as_ref().is_err_and(|error| error.to_string().starts_with("f:2: ")),
                "{line}: {error:?}"
            );
        }
        // Only a value that is asked for matters.
        assert_eq!(vars("B=$(hostname -f)\nC=\"${B:-x}\" # why\nA=1\n").get("A").unwrap(), Some(("1", 3)));
        assert!(vars("A=\"$B\"\n").set("A", "1").is_err());
    }

    #[test]
    fn values_that_a_start_script_would_quote_wrongly_are_refused() {
        for value in ["it's", "a\"b", "$HOME", "`id`", "a\\b", "a\nb"] {
            assert!(vars("A=1\n").set("A", value).is_err(), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_never_changed(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(file) = ShellVars::parse(&bytes, "f") {
                prop_assert_eq!(file.to_bytes(), bytes);
            }
        }

        #[test]
        fn what_was_set_is_read_back(before in "([A-Z]{1,3}=('[a-z $]*'|\"[a-z ;]*\"|[a-z]*)( #.*)?\n|#[^\r\n]*\n|\n){0,6}", value in "[a-zA-Z0-9=;:/., -]{0,40}") {
            let Ok(mut file) = ShellVars::parse(before.as_bytes(), "f") else { return Ok(()) };
            file.set("A", &value).unwrap();
            let again = ShellVars::parse(&file.to_bytes(), "f").unwrap();
            prop_assert_eq!(again.get("A").unwrap().map(|(value, _)| value), Some(value.as_str()));
        }
    }
}

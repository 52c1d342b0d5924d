//! Changing an option file: one line at a time, every other byte stays.
//!
//! An edit looks at this file only. Whether another group or another file wins is for `server::options` to say.

use zeroize::Zeroizing;

use super::line::{Kind, Line, is_space};
use super::{LINE_BYTES_MAX, OPTION_FILE_BYTES_MAX, OptionFile, OptionFileError, groups_equal, keys_equal};

impl OptionFile {
    /// Makes `key` have `value` in `group`.
    ///
    /// Replaces the value of the last such option in that group, where it stands; a comment behind it stays. Without
    /// one, adds a line after the last option or include of the last section of that name; without such a section, adds
    /// one at the end of the file. The value is quoted and escaped where needed: reading gives the same value back.
    ///
    /// # Errors
    /// [`OptionFileError::CannotBeWritten`], and the file is as before: a group or key that is no name, a value with a
    /// NUL byte, a line or file above the limits, a last line whose meaning would change if text followed.
    pub fn set(&mut self, group: &str, key: &str, value: &str) -> Result<(), OptionFileError> {
        let refused = |why: &str, next: &str| self.refused(group, key, why, next);
        check_names(group, key).map_err(|(why, next)| refused(why, next))?;
        let written = write_value(value)
            .ok_or_else(|| refused("the value has a NUL byte", "use a value without it"))?;
        let bytes_before: usize = self.lines.iter().map(|line| line.raw.len()).sum();
        let bytes_added_max = written.len() + group.len() + key.len() + "\r\n\r\n[]\r\n=\r\n".len();
        if bytes_before + bytes_added_max > OPTION_FILE_BYTES_MAX {
            return Err(refused(
                "the file would be larger than an option file may be",
                "use a file of its own for this group",
            ));
        }

        if let Some(index) = self.last_occurrence(group, key) {
            let line = self
                .lines
                .get(index)
                .and_then(|old| replaced(old, key, value, &written))
                .ok_or_else(|| refused(&too_long(), "use a shorter value"))?;
            if let Some(place) = self.lines.get_mut(index) {
                *place = line;
            }
            return Ok(());
        }

        if self.lines.last().is_some_and(changes_when_text_follows) {
            return Err(refused(
                "the file ends with an include line without a line feed; the server drops the last character of its path, and a line below would change that",
                "repair that line first",
            ));
        }
        let after = self.end_of_section(group);
        let line_end = self.line_end_near(after);
        let option = new_line(&format!("{key}={}{line_end}", *written))
            .ok_or_else(|| refused(&too_long(), "use a shorter value"))?;
        let mut added = Vec::new();
        if after.is_none() {
            if !self.lines.is_empty() {
                added.extend(new_line(line_end));
            }
            let header = new_line(&format!("[{group}]{line_end}"));
            added.push(header.ok_or_else(|| refused(&too_long(), "use a shorter name"))?);
        }
        added.push(option);
        let at = after.map_or(self.lines.len(), |index| index + 1);
        if at == self.lines.len() {
            self.end_last_line(line_end);
        }
        self.lines.splice(at..at, added);
        Ok(())
    }

    /// Removes every line with this key in this group; says how many.
    pub fn remove(&mut self, group: &str, key: &str) -> usize {
        let gone = self.occurrences(group, key);
        let mut index = 0;
        self.lines.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
        gone.len()
    }

    /// Removes all sections of this name: header, options, and the comments between them. Says how many sections.
    ///
    /// Include lines stay, as they belong to no group; so do comments and empty lines after a section's last option, as
    /// they mostly belong to what follows.
    pub fn remove_group(&mut self, group: &str) -> usize {
        let mut sections = 0;
        let mut gone: Vec<bool> = Vec::with_capacity(self.lines.len());
        let mut is_inside = false;
        // Comments seen since the last option of the section: removed only if another option follows.
        let mut pending: Vec<usize> = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let mut is_gone = false;
            match &line.kind {
                Kind::Group(name) => {
                    is_inside = groups_equal(&name.text, group);
                    is_gone = is_inside;
                    sections += usize::from(is_inside);
                    pending.clear();
                }
                Kind::Option(_) if is_inside => {
                    is_gone = true;
                    for place in pending.drain(..) {
                        if let Some(mark) = gone.get_mut(place) {
                            *mark = true;
                        }
                    }
                }
                Kind::Comment | Kind::Blank if is_inside => pending.push(index),
                _ => {}
            }
            gone.push(is_gone);
        }
        let mut marks = gone.into_iter();
        self.lines.retain(|_| !marks.next().unwrap_or(false));
        sections
    }

    fn refused(&self, group: &str, key: &str, why: &str, next: &str) -> OptionFileError {
        OptionFileError::CannotBeWritten {
            file: self.name.clone(),
            group: group.to_owned(),
            key: key.to_owned(),
            why: why.to_owned(),
            next: next.to_owned(),
        }
    }

    fn occurrences(&self, group: &str, key: &str) -> Vec<usize> {
        let mut is_inside = false;
        let mut found = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            match &line.kind {
                Kind::Group(name) => is_inside = groups_equal(&name.text, group),
                Kind::Option(option) if is_inside && keys_equal(&option.key.text, key) => {
                    found.push(index);
                }
                _ => {}
            }
        }
        found
    }

    fn last_occurrence(&self, group: &str, key: &str) -> Option<usize> {
        self.occurrences(group, key).last().copied()
    }

    /// Index of the last line of the last section of this name that means something: header, option or include.
    fn end_of_section(&self, group: &str) -> Option<usize> {
        let mut is_inside = false;
        let mut end = None;
        for (index, line) in self.lines.iter().enumerate() {
            match &line.kind {
                Kind::Group(name) => {
                    is_inside = groups_equal(&name.text, group);
                    if is_inside {
                        end = Some(index);
                    }
                }
                Kind::Option(_) | Kind::Include { .. } | Kind::IncludeDir { .. } if is_inside => {
                    end = Some(index);
                }
                _ => {}
            }
        }
        end
    }

    /// The line end to use for a line below `after`: as that line has it, else as the first line has it.
    fn line_end_near(&self, after: Option<usize>) -> &'static str {
        let near = after.and_then(|index| self.lines.get(index)).map(Line::line_end);
        let first = self.lines.first().map(Line::line_end);
        [near, first].into_iter().flatten().find(|end| !end.is_empty()).unwrap_or("\n")
    }

    /// Gives the last line a line end, if it has none.
    fn end_last_line(&mut self, line_end: &str) {
        if let Some(last) = self.lines.last_mut()
            && last.line_end().is_empty()
        {
            last.raw.extend_from_slice(line_end.as_bytes());
        }
    }
}

/// The old line with another value; `None` if it would be too long.
fn replaced(old: &Line, key: &str, value: &str, written: &str) -> Option<Line> {
    let Kind::Option(option) = &old.kind else {
        return None;
    };
    let (from, to, sign) = match &option.value {
        Some(value) if value.at.is_empty() => {
            let before = old.raw.get(..value.at.start.saturating_sub(1)).unwrap_or_default();
            let is_spaced = before.last().is_some_and(|byte| is_space(*byte));
            (value.at.start, value.at.end, if is_spaced { " " } else { "" })
        }
        Some(value) => (value.at.start, value.at.end, ""),
        None => (option.key_end, option.key_end, "="),
    };
    let mut raw = Zeroizing::new(Vec::new());
    raw.extend_from_slice(old.raw.get(..from)?);
    raw.extend_from_slice(sign.as_bytes());
    raw.extend_from_slice(written.as_bytes());
    raw.extend_from_slice(old.raw.get(to..)?);
    let is_as_wanted = |line: &Line| {
        matches!(&line.kind, Kind::Option(option) if keys_equal(&option.key.text, key)
            && option.value.as_ref().is_some_and(|read| *read.text.text == value && read.text.is_exact))
    };
    // If the rest of the line does not fit the new value (no such case is known), the line is written anew.
    Line::read(&raw)
        .ok()
        .filter(is_as_wanted)
        .or_else(|| new_line(&format!("{key}={written}{}", old.line_end())))
}

/// Would this last line, once it has a line feed, say something else? A path is cut without one, and a bare
/// `!include`, which the server passes over at the end of a file, is a mistake anywhere else.
fn changes_when_text_follows(last: &Line) -> bool {
    match &last.kind {
        Kind::Include { is_cut, .. } | Kind::IncludeDir { is_cut, .. } => *is_cut,
        Kind::Comment if last.line_end().is_empty() => {
            let mut ended = last.raw.clone();
            ended.push(b'\n');
            !matches!(Line::read(&ended), Ok(Line { kind: Kind::Comment, .. }))
        }
        _ => false,
    }
}

fn new_line(text: &str) -> Option<Line> {
    Line::read(text.as_bytes()).ok()
}

fn too_long() -> String {
    format!("the line would be longer than {LINE_BYTES_MAX} bytes, where the server cuts it")
}

fn check_names(group: &str, key: &str) -> Result<(), (&'static str, &'static str)> {
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(is_key) {
        return Err((
            "an option name has only letters, digits, '-', '_' and '.'",
            "check the name of the option",
        ));
    }
    let is_group = |byte: u8| byte.is_ascii_graphic() && byte != b']';
    if group.is_empty() || !group.bytes().all(is_group) {
        return Err((
            "a group name has only printable ASCII without ']' and spaces",
            "check the name of the group",
        ));
    }
    Ok(())
}

/// The value as it must be written, in double quotes where a plain one would be misread; `None` if it has a NUL byte.
fn write_value(value: &str) -> Option<Zeroizing<String>> {
    if value.contains('\0') {
        return None;
    }
    let bytes = value.as_bytes();
    // ';' starts no comment inside a line for the server, but it does for editors and people.
    let is_delicate = |byte: u8| matches!(byte, b'#' | b';' | b'\'' | b'"' | b'\\') || byte < 0x20;
    let has_outer_space = [bytes.first(), bytes.last()].into_iter().flatten().any(|byte| is_space(*byte));
    if !value.is_empty() && !has_outer_space && !bytes.iter().copied().any(is_delicate) {
        return Some(Zeroizing::new(value.to_owned()));
    }
    let mut written = Zeroizing::new(String::with_capacity(2 * value.len() + 2));
    written.push('"');
    for character in value.chars() {
        match character {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\u{8}' => written.push_str("\\b"),
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            other => written.push(other),
        }
    }
    written.push('"');
    Some(written)
}

//! Names and rows as text.

/// A name between backticks.
pub fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

/// A text between quotes; for sessions with backslash escapes.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// One cell as `LOAD DATA` with its default escapes reads it.
///
/// # Source
/// MariaDB manual, LOAD DATA INFILE: `\N` is NULL; tab, newline, backslash and NUL are escaped.
pub fn put_cell(out: &mut Vec<u8>, cell: Option<&[u8]>) {
    let Some(bytes) = cell else {
        out.extend_from_slice(b"\\N");
        return;
    };
    for byte in bytes {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => out.extend_from_slice(b"\\0"),
            other => out.push(*other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_texts_and_cells_are_quoted() {
        assert_eq!(name("a`b"), "`a``b`");
        assert_eq!(text(r"a'b\c"), r"'a\'b\\c'");
        let mut out = Vec::new();
        put_cell(&mut out, Some(b"a\tb\nc\\d\0e\r'\""));
        put_cell(&mut out, None);
        put_cell(&mut out, Some(b""));
        assert_eq!(out, b"a\\tb\\nc\\\\d\\0e\r'\"\\N");
    }
}

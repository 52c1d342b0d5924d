//! Names, texts and rows as SQL statements and `LOAD DATA` read them.

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
fn put_cell(out: &mut Vec<u8>, cell: Option<&[u8]>) {
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

/// A row as a line: its cells with tabs between them, and a line feed.
///
/// # Errors
/// The first cell that could not be read; what is in `out` is then no row.
pub fn put_row<'r, E>(
    out: &mut Vec<u8>,
    row: impl Iterator<Item = Result<Option<&'r [u8]>, E>>,
) -> Result<(), E> {
    for (at, cell) in row.enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        put_cell(out, cell?);
    }
    out.push(b'\n');
    Ok(())
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
        let mut out = Vec::new();
        let cells = [Ok(Some(&b"1"[..])), Ok(None), Ok(Some(b""))];
        assert_eq!(put_row::<()>(&mut out, cells.into_iter()), Ok(()));
        assert_eq!(out, b"1\t\\N\t\n");
        assert_eq!(put_row(&mut out, [Ok(None), Err("cut")].into_iter()), Err("cut"));
    }
}

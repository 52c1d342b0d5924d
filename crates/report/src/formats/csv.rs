//! Cells of RFC 4180, as all tables that programs read have them.

/// A cell that begins with =, +, - or @ is a formula to a spreadsheet, and the text may be a server's.
pub fn quoted(cell: &str) -> String {
    let cell = if cell.starts_with(['=', '+', '-', '@']) { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_cell_is_text_to_a_spreadsheet_and_one_cell_to_a_program() {
        for (cell, expected) in [
            ("TLS 1.3", "TLS 1.3"),
            ("AES-256-CBC, TLS 1.2", "\"AES-256-CBC, TLS 1.2\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@a", "'@a"),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}

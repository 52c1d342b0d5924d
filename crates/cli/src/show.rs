//! Colour on a terminal, tables of 80 columns, progress on stderr.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{ContentArrangement, Table};

use crate::args::Color;

static COLOUR: AtomicBool = AtomicBool::new(false);

/// Tables fit a terminal of this width when the output is not one.
const WIDTH: u16 = 80;

/// No lines but one under the header: what is pasted into a ticket stays readable.
/// Source: comfy_table::presets: the 6th and 7th of 19 places are the header's line.
const UNDER_THE_HEADER: &str = "     ──            ";

pub fn set_color(color: Color) {
    let on = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    COLOUR.store(on, Ordering::Relaxed);
}

fn paint(code: &str, text: &str) -> String {
    if COLOUR.load(Ordering::Relaxed) { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

pub fn red(text: &str) -> String {
    paint("1;31", text)
}
pub fn green(text: &str) -> String {
    paint("32", text)
}
pub fn bold(text: &str) -> String {
    paint("1", text)
}

/// A word of `plain`, `sealed`, `unknown` in its colour.
pub fn seen(word: &str) -> String {
    match word {
        "plain" => paint("33", word),
        "sealed" => paint("32", word),
        _ => word.to_owned(),
    }
}

pub fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(UNDER_THE_HEADER).set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        table.set_width(WIDTH);
    }
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    table.to_string()
}

/// Milliseconds since 1970 as a date.
pub fn day(unix_s: Option<i64>) -> String {
    unix_s.and_then(|s| u64::try_from(s).ok()).map_or_else(
        || "-".into(),
        |s| model::clock::rfc3339(s * 1000).get(..10).unwrap_or_default().to_owned(),
    )
}

/// A line on stderr. Whoever listened may be gone (`2>&1 | head`): a change goes on without an audience.
pub fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The same on stdout.
pub fn out(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// One line on a terminal's stderr that the next one overwrites; nothing where stderr is none.
pub fn progress(word: &str) {
    use std::io::Write;
    if std::io::stderr().is_terminal() {
        let mut text: String = word.chars().take(usize::from(WIDTH) - 1).collect();
        text.insert_str(0, "\r\x1b[K");
        let _ = write!(std::io::stderr(), "{text}");
    }
}

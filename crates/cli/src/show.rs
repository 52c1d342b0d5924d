//! Colour on a terminal, tables of 80 columns, progress on stderr.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table};
use nix::unistd::{AccessFlags, access};
use site::OpsError;

use crate::options::Color;

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
        Color::Auto => {
            let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
            is_terminal && std::env::var_os("NO_COLOR").is_none()
        }
    };
    COLOUR.store(on, Ordering::Relaxed);
}

const RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const BOLD: &str = "1";

fn paint(code: &str, text: &str) -> String {
    if COLOUR.load(Ordering::Relaxed) { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

pub fn red(text: &str) -> String {
    paint(RED, text)
}
pub fn green(text: &str) -> String {
    paint(GREEN, text)
}
pub fn bold(text: &str) -> String {
    paint(BOLD, text)
}

/// The verdict on a file.
pub fn rest_verdict(word: &str) -> String {
    match word {
        "plain" | "mixed" => paint(YELLOW, word),
        "encrypted" => paint(GREEN, word),
        _ => word.to_owned(),
    }
}

/// A word of `plain`, `sealed`, `unknown` in its colour.
pub fn seen(word: &str) -> String {
    match word {
        "plain" => paint(YELLOW, word),
        "sealed" => paint(GREEN, word),
        _ => word.to_owned(),
    }
}

/// Before a long run: what it is to write at its end can be written.
///
/// # Errors
/// A directory that is not there, or a place where this user may not write.
pub fn is_writable(path: &Path) -> Result<(), OpsError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let looked_at = if path.exists() { path } else { parent };
    let why = match access(looked_at, AccessFlags::W_OK) {
        Err(error) => error.desc(),
        Ok(()) if path.is_dir() => "it is a directory",
        Ok(()) => return Ok(()),
    };
    Err(OpsError::usage(format!("cannot write {}", path.display()), why, "choose a file that you may write"))
}

pub fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    laid_out(header, rows).to_string()
}

fn laid_out(header: &[&str], rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_preset(UNDER_THE_HEADER).set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        table.set_width(WIDTH);
    }
    table.set_header(header.to_vec());
    if COLOUR.load(Ordering::Relaxed) {
        table.enforce_styling();
    }
    for row in rows {
        table.add_row(row.into_iter().map(|text| cell(&text)));
    }
    table
}

/// A text that is painted as a whole keeps its colour and loses its codes, which the table would count as columns.
fn cell(text: &str) -> Cell {
    let painted = text.strip_prefix("\x1b[").and_then(|rest| rest.strip_suffix("\x1b[0m")?.split_once('m'));
    match painted {
        Some((YELLOW, text)) => Cell::new(text).fg(comfy_table::Color::DarkYellow),
        Some((GREEN, text)) => Cell::new(text).fg(comfy_table::Color::DarkGreen),
        Some((BOLD, text)) => Cell::new(text).add_attribute(Attribute::Bold),
        Some((RED, text)) => Cell::new(text).fg(comfy_table::Color::DarkRed).add_attribute(Attribute::Bold),
        _ => Cell::new(text),
    }
}

/// A table whose first column is never broken: it is to be copied.
pub fn table_of_ids(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = laid_out(header, rows);
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

/// `mark` and the text behind it, in lines of at most 80 columns that are broken between words and begin under the text.
pub fn wrapped(mark: &str, text: &str) -> String {
    wrapped_at(mark, text, usize::from(WIDTH))
}

/// Without the escape sequences of a colour, which take no room.
fn columns_of(text: &str) -> usize {
    let mut is_escape = false;
    text.chars()
        .filter(|&one| {
            let counts = !is_escape && one != '\x1b';
            is_escape = one == '\x1b' || (is_escape && one != 'm');
            counts
        })
        .count()
}

fn wrapped_at(mark: &str, text: &str, columns_max: usize) -> String {
    let indent = columns_of(mark);
    let (mut lines, mut line, mut columns) = (Vec::new(), mark.to_owned(), indent);
    for word in text.split_whitespace() {
        let (is_first, word_columns) = (columns == indent, word.chars().count());
        if !is_first && columns + 1 + word_columns > columns_max {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            columns = indent;
        } else if !is_first {
            line.push(' ');
            columns += 1;
        }
        line.push_str(word);
        columns += word_columns;
    }
    lines.push(line);
    lines.join("\n")
}

/// What a server or its users wrote, for a terminal: characters that move the cursor, change colours, turn the
/// direction of writing or take no room are written as escapes.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if char.is_control() || is_unseen(char) || (char != ' ' && char.is_whitespace()) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out
}

/// A blank that another follows, which wrapping would drop, as an escape: a name may have two.
pub fn with_blanks(text: &str) -> String {
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        if char == ' ' && chars.peek() == Some(&' ') {
            out.push_str("\\u{20}");
        } else {
            out.push(char);
        }
    }
    out
}

/// Format characters of Unicode: marks of direction, joiners, the blank without width, tags.
fn is_unseen(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The same, at the width of the terminal, and only there: what goes to a file or a program stays one line.
pub fn fitted(mark: &str, text: &str) -> String {
    match terminal_columns(false) {
        Some(columns) => wrapped_at(mark, text, columns),
        None => format!("{mark}{text}"),
    }
}

/// The same for a line of progress, on stderr.
pub fn fitted_progress(mark: &str, text: &str) -> String {
    match terminal_columns(true) {
        Some(columns) => wrapped_at(mark, text, columns),
        None => format!("{mark}{text}"),
    }
}

/// An error for a terminal: what, why and next, each wrapped under itself. A command to copy stays one line.
pub fn fitted_error(text: &str) -> String {
    match terminal_columns(true) {
        Some(columns) => error_at(text, columns),
        None => text.to_owned(),
    }
}

fn error_at(text: &str, columns: usize) -> String {
    let line = |line: &str| {
        let label = ["  why:  ", "  next: ", "  note: ", "  node: "]
            .into_iter()
            .find(|label| line.starts_with(label));
        let spaces = line.len() - line.trim_start().len();
        let mark = label.unwrap_or_else(|| line.get(..spaces).unwrap_or_default());
        let rest = line.get(mark.len()..).unwrap_or_default();
        let is_short = line.chars().count() <= columns;
        if is_short || rest.starts_with("sealion ") {
            line.to_owned()
        } else {
            wrapped_at(mark, rest, columns)
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Of stdout, or of stderr, where it is a terminal; 80 where it does not tell.
fn terminal_columns(of_stderr: bool) -> Option<usize> {
    let is_terminal =
        if of_stderr { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    if !is_terminal {
        return None;
    }
    let mut table = Table::new();
    if of_stderr {
        table.use_stderr();
    }
    Some(usize::from(table.width().filter(|columns| *columns >= 40).unwrap_or(WIDTH)))
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
    let clear = if HAS_PROGRESS.swap(false, Ordering::Relaxed) { CLEAR_LINE } else { "" };
    let _ = writeln!(std::io::stderr(), "{clear}{line}");
}

/// Something was to be written to stdout, and could not be.
static LOST: AtomicBool = AtomicBool::new(false);

/// The same on stdout. A full disk is told, once, and is an error in the end: [`has_lost`].
pub fn out(line: &str) {
    use std::io::Write;
    let mut stdout = std::io::stdout();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        tell_lost(&error.to_string());
    }
}

/// Stdout could not be written.
pub fn tell_lost(why: &str) {
    tell(&format!("error: cannot write the output\n  why:  {why}\n  next: print it where there is space"));
}

pub fn has_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Begins a line anew, with nothing on it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// A line of progress stands on the terminal, and goes before anything else is printed.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// One line on a terminal's stderr that the next one overwrites; nothing where stderr is none.
pub fn progress(word: &str) {
    use std::io::Write;
    if std::io::stderr().is_terminal() {
        HAS_PROGRESS.store(!word.is_empty(), Ordering::Relaxed);
        let text: String = word.chars().take(usize::from(WIDTH) - 1).collect();
        let _ = write!(std::io::stderr(), "{CLEAR_LINE}{text}");
    }
}

/// A line of progress that is written anew every second, for what says nothing by itself.
pub struct Ticker {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What takes less needs no line.
const TICKER_AFTER: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_secs(1);

impl Ticker {
    /// `text` is given the time since the start. Nothing happens where stderr is no terminal.
    pub fn start(text: impl Fn(Duration) -> String + Send + 'static) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { over: None, thread: None };
        }
        let (over, is_over) = channel();
        let began = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut wait = TICKER_AFTER;
            while is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                progress(&text(began.elapsed()));
                wait = TICK;
            }
        });
        Self { over: Some(over), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if HAS_PROGRESS.load(Ordering::Relaxed) {
            progress("");
        }
    }
}

/// How far a long reading is: `reading 1.2 GiB of 3.4 GiB, 900.0 MiB/s, 3 s left`.
pub fn read_so_far(read_bytes: u64, all_bytes: u64, elapsed: Duration) -> String {
    let per_s = u128::from(read_bytes) * 1000 / elapsed.as_millis().max(1);
    let per_s = u64::try_from(per_s).unwrap_or(u64::MAX);
    let left_s = all_bytes.saturating_sub(read_bytes) / per_s.max(1);
    let left = duration(left_s as f64);
    format!("reading {} of {}, {}/s, {left} left", size(read_bytes), size(all_bytes), size(per_s))
}

/// As `ls -h`.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// `95 s` or `7 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_moves_no_cursor_and_loses_no_blank() {
        for (text, expected) in [
            ("'web'@'%' ünï", "'web'@'%' ünï"),
            ("'\x1b[1A\x1b[2Kx\r'", "'\\u{1b}[1A\\u{1b}[2Kx\\r'"),
            ("a\nb\tc", "a\\nb\\tc"),
            ("\u{202e}\u{200b}\u{a0}\u{9b}", "\\u{202e}\\u{200b}\\u{a0}\\u{9b}"),
        ] {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(with_blanks("a  b c"), "a\\u{20} b c");
    }

    #[test]
    fn an_id_is_never_broken() {
        let id = "20261124T112843123Z-1234567";
        let row = vec![id.to_owned(), "word ".repeat(20), "other words ".repeat(10)];
        let text = table_of_ids(&["run", "a", "b"], vec![row]);
        assert!(text.contains(id), "{text}");
    }

    #[test]
    fn a_coloured_cell_is_as_wide_as_its_word() {
        let words = [
            "sealed",
            "\x1b[32msealed\x1b[0m",
            "\x1b[1;31mplain\x1b[0m",
            "\x1b[33mplain\x1b[0m",
            "\x1b[1mfail\x1b[0m",
        ];
        let rows = words.map(|word| vec![word.to_owned(), "x".to_owned()]).to_vec();
        let mut table = laid_out(&["seen", "link"], rows);
        let text = table.enforce_styling().to_string();
        let columns: Vec<usize> =
            text.lines().filter_map(|line| Some(columns_of(line.split_once('x')?.0))).collect();
        assert_eq!(columns, [columns[0]; 5], "{text}");
        assert!(text.contains("\x1b["), "{text}");
    }

    #[test]
    fn long_lines_are_broken_between_words_and_begin_under_the_text() {
        assert_eq!(wrapped("- ", "a  b"), "- a b");
        assert_eq!(columns_of("\x1b[32m  ok \x1b[0m E1"), "  ok  E1".len());
        let text = wrapped("  before   ", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert!(lines[0].starts_with("  before   word") && lines[1].starts_with("           word"), "{text}");
        let error = format!(
            "{}\n  why:  {}\n  next: sealion {}",
            "what ".repeat(30),
            "why ".repeat(30),
            "x ".repeat(60)
        );
        let text = error_at(&error, 60);
        assert!(
            text.lines().filter(|line| line.chars().count() > 60).all(|line| line.contains("sealion x")),
            "{text}"
        );
        assert!(text.contains("\n        why"), "{text}");
        assert_eq!(wrapped("", &"x".repeat(200)).lines().count(), 1, "a word is never cut");
    }
}

//! What a program writes, taken as it comes: a dump, a query's result. A pipe does not say whether its writer came to its end, so
//! what says so itself is asked.

use std::io::{ErrorKind, Read};

use zeroize::Zeroizing;

use crate::ShareError;

const PIECE_BYTES: usize = 256 * 1024;
/// Of the beginning: a line of `mariadb-dump` before the one that names it.
const START_BYTES: usize = 256;
/// Of the end: the line, with a date and a line feed or two behind it.
const END_BYTES: usize = 256;
const NAME_BYTES_MAX: usize = 255;
/// As `mysqldump` and `mariadb-dump` begin and end, unless they were told `--skip-comments`.
///
/// # Source
/// Seen with MariaDB 10.11.19 and 11.8, and MySQL 9.7.
const DUMP_STARTS: [&[u8]; 2] = [b"-- MySQL dump", b"-- MariaDB dump"];
const DUMP_ENDS: &[u8] = b"-- Dump completed";

/// # Errors
/// The text cannot stand beside names of tables.
pub fn name(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control);
    if is_one { Ok(text.to_owned()) } else { Err(format!("give 1 to {NAME_BYTES_MAX} bytes, in one line")) }
}

/// Reads to the end.
///
/// # Errors
/// Nothing came, or a dump that is not whole.
pub fn read(
    from: &mut dyn Read,
    put: &mut dyn FnMut(&[u8]) -> Result<(), ShareError>,
) -> Result<(), ShareError> {
    let mut piece = Zeroizing::new(vec![0; PIECE_BYTES]);
    let mut start = Zeroizing::new(Vec::with_capacity(START_BYTES));
    // Twice as much as is looked at, so that it is not moved for each piece.
    let mut end = Zeroizing::new(Vec::with_capacity(2 * END_BYTES));
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                let next = "begin again: nothing was kept";
                return Err(ShareError::usage("cannot read what is to be shared", error, next));
            }
        };
        let bytes = piece.get(..count).unwrap_or_default();
        let lacking = START_BYTES.saturating_sub(start.len());
        start.extend_from_slice(bytes.get(..lacking.min(count)).unwrap_or_default());
        let last = bytes.get(count.saturating_sub(END_BYTES)..).unwrap_or_default();
        let kept = (end.len() + last.len()).saturating_sub(END_BYTES).min(end.len());
        end.drain(..kept);
        end.extend_from_slice(last);
        put(bytes)?;
    }
    let has = |bytes: &[u8], word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    let last = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let why = if start.is_empty() {
        "nothing came"
    } else if DUMP_STARTS.iter().any(|word| has(&start, word)) && !last.starts_with(DUMP_ENDS) {
        "it begins as a dump, and ends before the line \"-- Dump completed\": the program that wrote it failed"
    } else {
        return Ok(());
    };
    Err(ShareError::usage(
        "this is not shared",
        why,
        "see what the program said, and begin again: nothing was kept",
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Gives so many bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            let (now, later) = self.0.split_at(count);
            into[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn all(text: &[u8], at_a_time: usize) -> Result<Vec<u8>, String> {
        let mut got = Vec::new();
        let mut put = |bytes: &[u8]| {
            got.extend_from_slice(bytes);
            Ok(())
        };
        read(&mut Slow(text, at_a_time), &mut put).map_err(|error| error.to_string())?;
        Ok(got)
    }

    #[test]
    fn a_dump_counts_with_its_last_line_only_and_other_bytes_as_they_are() {
        let rows = "INSERT INTO `t` VALUES (1);\n".repeat(100);
        let head = "/*M!999999\\- enable the sandbox mode */\n-- MariaDB dump 10.19  Distrib 10.11.19\n";
        let whole = format!("{head}{rows}-- Dump completed on 2026-11-27 21:00:00\n");
        let cut = format!("{head}{rows}");
        for at_a_time in [1, 7, 255, 256, 257, 5000, PIECE_BYTES] {
            assert_eq!(all(whole.as_bytes(), at_a_time).unwrap(), whole.as_bytes(), "{at_a_time}");
            let why = all(cut.as_bytes(), at_a_time).unwrap_err();
            assert!(why.contains("Dump completed"), "{at_a_time}: {why}");
            assert_eq!(all(rows.as_bytes(), at_a_time).unwrap(), rows.as_bytes());
        }
        let within = format!("{head}INSERT INTO t VALUES ('\n-- Dump completed'),\n('cut");
        assert!(all(within.as_bytes(), 100).is_err(), "the words stand in a row");
        assert!(all(b"", 1).unwrap_err().contains("nothing came"));
    }

    #[test]
    fn a_name_is_one_line() {
        assert!(name("orders 2026-11").is_ok());
        for text in ["", "a\nb", "\x1b[2J", &"x".repeat(256)] {
            assert!(name(text).is_err(), "{text:?}");
        }
    }
}

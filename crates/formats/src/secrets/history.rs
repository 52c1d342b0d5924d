//! Histories of clients: their library writes blanks, tabs and line feeds of a statement as `\040`, and a backslash as two.
//!
//! # Source
//! `vis(3)` of libedit with `VIS_WHITE`; seen in `~/.mysql_history` of the clients of MariaDB 10.11 and MySQL 9.7.

use std::collections::VecDeque;

/// `\` and three octal digits.
const ESCAPE_BYTES: usize = 4;

/// What was decoded, and where its lines began before that.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of an escape that was cut.
    pending: Vec<u8>,
    /// Bytes that came.
    came: u64,
    /// Of each line: where it begins decoded, and as it came. The first line is not among them.
    begins: VecDeque<(u64, u64)>,
}

impl Lines {
    /// `base`: where `window` begins, decoded.
    pub fn decode(&mut self, bytes: &[u8], window: &mut Vec<u8>, base: u64) {
        for &byte in bytes {
            self.came += 1;
            if self.pending.is_empty() && byte != b'\\' {
                self.put(byte, window, base);
                continue;
            }
            self.pending.push(byte);
            let digits = self.pending.get(1..).unwrap_or_default();
            match digits {
                [] => {}
                [b'\\'] => {
                    self.pending.clear();
                    window.push(b'\\');
                }
                _ if digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) => {
                    if self.pending.len() == ESCAPE_BYTES {
                        let value =
                            digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                        self.pending.clear();
                        window.push(u8::try_from(value & 0xff).unwrap_or_default());
                    }
                }
                // It is none.
                _ => {
                    for byte in std::mem::take(&mut self.pending) {
                        self.put(byte, window, base);
                    }
                }
            }
        }
    }

    fn put(&mut self, byte: u8, window: &mut Vec<u8>, base: u64) {
        window.push(byte);
        if byte == b'\n' {
            self.begins.push_back((base + window.len() as u64, self.came));
        }
    }

    pub fn end(&mut self, window: &mut Vec<u8>) {
        window.append(&mut self.pending);
    }

    /// Where, as it came, the line begins that has this decoded byte.
    pub fn line_of(&self, offset: u64) -> u64 {
        self.begins.iter().rev().find(|(begins, _)| *begins <= offset).map_or(0, |(_, came)| *came)
    }

    /// Of the line that goes on there the begin is kept.
    pub fn forget_before(&mut self, base: u64) {
        while self.begins.get(1).is_some_and(|(begins, _)| *begins <= base) {
            self.begins.pop_front();
        }
    }
}

//! Prepared statements: `COM_STMT_PREPARE`, `COM_STMT_EXECUTE`, binary rows.
//!
//! Source: MySQL Internals, "Prepared Statements" and "Binary Protocol Resultset"; MariaDB, "COM_STMT_EXECUTE".

use crate::WireError;
use crate::read::{Reader, lenenc};

pub const COM_STMT_PREPARE: u8 = 0x16;
pub const COM_STMT_EXECUTE: u8 = 0x17;
pub const COM_STMT_CLOSE: u8 = 0x19;

/// `MYSQL_TYPE_*` of the parameters that we send.
const TYPE_LONG: u8 = 3;
const TYPE_STRING: u8 = 254;

/// A value for a `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A signed INTEGER.
    Int(i32),
    Text(&'a [u8]),
}

/// The head of the answer to `COM_STMT_PREPARE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareOk {
    /// Of this session alone.
    pub statement_id: u32,
    pub columns: u16,
    pub parameters: u16,
    pub warnings: u16,
}

impl PrepareOk {
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("answer to a prepare", payload);
        if reader.u8()? != 0 {
            return Err(reader.malformed("it does not begin with 0x00"));
        }
        let (statement_id, columns, parameters) = (reader.u32()?, reader.u16()?, reader.u16()?);
        reader.u8()?;
        Ok(Self { statement_id, columns, parameters, warnings: reader.u16()? })
    }
}

/// Writes a `COM_STMT_PREPARE` payload over what `out` held.
pub fn prepare(out: &mut Vec<u8>, sql: &str) {
    out.clear();
    out.push(COM_STMT_PREPARE);
    out.extend_from_slice(sql.as_bytes());
}

/// Writes a `COM_STMT_CLOSE` payload over what `out` held. It has no answer.
pub fn close(out: &mut Vec<u8>, statement_id: u32) {
    out.clear();
    out.push(COM_STMT_CLOSE);
    out.extend_from_slice(&statement_id.to_le_bytes());
}

/// Appends a whole packet with `COM_STMT_EXECUTE`. The types of parameters go along once a session, as with the C clients.
///
/// # Errors
/// [`WireError::OverLimit`] over a frame's length; then `out` is as it was.
pub fn append_execute(
    out: &mut Vec<u8>,
    statement_id: u32,
    parameters: &[Parameter<'_>],
    with_types: bool,
) -> Result<(), WireError> {
    let start = out.len();
    let [a, b, c, d] = statement_id.to_le_bytes();
    // No cursor; one iteration.
    out.extend_from_slice(&[0, 0, 0, 0, COM_STMT_EXECUTE, a, b, c, d, 0, 1, 0, 0, 0]);
    if !parameters.is_empty() {
        // None of them is NULL.
        out.resize(out.len() + parameters.len().div_ceil(8), 0);
        out.push(u8::from(with_types));
        if with_types {
            for parameter in parameters {
                let kind = match parameter {
                    Parameter::Int(_) => TYPE_LONG,
                    Parameter::Text(_) => TYPE_STRING,
                };
                out.extend_from_slice(&[kind, 0]);
            }
        }
        for parameter in parameters {
            match parameter {
                Parameter::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
                Parameter::Text(text) => lenenc::write_bytes(out, text),
            }
        }
    }
    finish_frame(out, start)
}

/// Appends a whole packet with `COM_QUERY`, whose text `write` appends.
///
/// # Errors
/// As those of [`append_execute`].
pub fn append_query(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, crate::command::COM_QUERY]);
    write(out);
    finish_frame(out, start)
}

/// Puts the length into the header at `start`; the sequence number of a command is 0.
fn finish_frame(out: &mut Vec<u8>, start: usize) -> Result<(), WireError> {
    let length = out.len() - start - crate::packet::HEADER_BYTES;
    if length >= crate::packet::FRAME_BYTES_MAX {
        out.truncate(start);
        return Err(WireError::OverLimit {
            what: "a command",
            announced: length as u64,
            max: crate::packet::FRAME_BYTES_MAX as u64 - 1,
        });
    }
    let [a, b, c, ..] = length.to_le_bytes();
    if let Some(header) = out.get_mut(start..start + 3) {
        header.copy_from_slice(&[a, b, c]);
    }
    Ok(())
}

/// How a column's values lie in a binary row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Fixed {
        bytes: u8,
    },
    /// Behind a length of its own: text, blobs, DECIMAL, and, with lengths of a byte, dates and times.
    Counted,
}

impl Cell {
    /// By `MYSQL_TYPE_*` of the column definition; `None`: a type that no server sends.
    pub fn of(column_type: u8) -> Option<Self> {
        Some(match column_type {
            1 => Self::Fixed { bytes: 1 },
            2 | 13 => Self::Fixed { bytes: 2 },
            3 | 4 | 9 => Self::Fixed { bytes: 4 },
            5 | 8 => Self::Fixed { bytes: 8 },
            6 => Self::Fixed { bytes: 0 },
            0 | 7 | 10..=12 | 14..=16 | 242 | 245..=255 => Self::Counted,
            _ => return None,
        })
    }
}

/// Reads a binary row to its end: each cell must lie in it, and nothing may follow.
#[inline]
pub fn check_binary_row(payload: &[u8], cells: &[Cell]) -> Result<(), WireError> {
    const WHAT: &str = "binary row";
    // Of one text that is not NULL, and short: most rows of most workloads.
    if let ([Cell::Counted], [0, nulls, length @ ..=0xfa, text @ ..]) = (cells, payload)
        && nulls & 0b100 == 0
        && text.len() == usize::from(*length)
    {
        return Ok(());
    }
    let truncated = |needed: usize, have: &[u8]| WireError::Truncated {
        what: WHAT,
        needed_bytes: needed as u64,
        have_bytes: have.len() as u64,
    };
    let Some((0, rest)) = payload.split_first() else {
        return Err(WireError::Malformed { what: WHAT, reason: "it does not begin with 0x00" });
    };
    // The first two bits are not used.
    let nulls_bytes = (cells.len() + 9) / 8;
    let (nulls, mut rest) = rest.split_at_checked(nulls_bytes).ok_or_else(|| truncated(nulls_bytes, rest))?;
    for (number, cell) in cells.iter().enumerate() {
        let bit = number + 2;
        if nulls.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0) {
            continue;
        }
        let length = match (cell, rest.split_first()) {
            (Cell::Fixed { bytes }, _) => usize::from(*bytes),
            // Nearly all are so short.
            (Cell::Counted, Some((short @ ..=0xfa, after))) => {
                rest = after;
                usize::from(*short)
            }
            (Cell::Counted, _) => {
                let mut reader = Reader::new(WHAT, rest);
                let length = reader.lenenc_int()?;
                rest = reader.rest();
                usize::try_from(length).unwrap_or(usize::MAX)
            }
        };
        rest = rest.get(length..).ok_or_else(|| truncated(length, rest))?;
    }
    Reader::new(WHAT, rest).end()
}

/// Reads a text row of so many cells to its end.
pub fn check_text_row(payload: &[u8], cells: usize) -> Result<(), WireError> {
    let mut reader = Reader::new("text row", payload);
    for _ in 0..cells {
        reader.lenenc_cell()?;
    }
    reader.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execute_is_what_the_c_client_sends() {
        let mut out = Vec::new();
        append_execute(&mut out, 7, &[Parameter::Int(-2), Parameter::Text(b"abc")], true).expect("short");
        let expected = [
            &[25, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0][..],
            &[0, 1, 3, 0, 254, 0, 0xfe, 0xff, 0xff, 0xff, 3],
            b"abc",
        ]
        .concat();
        assert_eq!(out.len() - 4, usize::from(*out.first().expect("a header")));
        assert_eq!(out, [&[24u8][..], expected.get(1..).expect("more")].concat());
        out.clear();
        append_execute(&mut out, 1, &[], false).expect("short");
        assert_eq!(out, [10, 0, 0, 0, 0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
        out.clear();
        assert!(append_query(&mut out, |out| out.resize(0x100_0004, b' ')).is_err() && out.is_empty());
    }

    #[test]
    fn binary_rows_are_read_to_their_end() {
        let cells = [Cell::Fixed { bytes: 4 }, Cell::Counted, Cell::of(246).expect("DECIMAL")];
        check_binary_row(&[0, 0, 1, 0, 0, 0, 2, b'a', b'b', 0], &cells).expect("a row");
        // The second one is NULL.
        check_binary_row(&[0, 0b1000, 1, 0, 0, 0, 1, b'7'], &cells).expect("a row");
        for bad in
            [&[0, 0, 1, 0, 0, 0, 2, b'a', b'b'][..], &[1, 0], &[0, 0, 1, 0, 0, 0, 2, b'a', b'b', 0, 0], &[]]
        {
            assert!(check_binary_row(bad, &cells).is_err(), "{bad:?}");
        }
        assert_eq!((Cell::of(3), Cell::of(244)), (Some(Cell::Fixed { bytes: 4 }), None));
    }
}

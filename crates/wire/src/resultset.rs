//! The answer to `COM_QUERY`, packet by packet: OK, ERR, or columns and text rows.

use std::borrow::Cow;

use crate::read::Reader;
use crate::{Capabilities, ErrPacket, OkPacket, WireError};

/// The servers allow 4096 columns in a table; a SELECT may list more, yet nobody does.
pub const COLUMNS_MAX: u64 = 65_535;
/// From this length on a packet that begins with 0xfe is a row whose first cell is huge, not an end.
const END_BYTES_MAX: usize = crate::packet::FRAME_BYTES_MAX;
const EOF_BYTES_MAX: usize = 8;

/// A column of a result set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDef<'a> {
    /// The name or alias as the statement gives it; not escaped, and copied only if it is no UTF-8.
    pub name: Cow<'a, str>,
    pub charset: u16,
    pub length_bytes: u32,
    pub column_type: u8,
    pub flags: u16,
}

impl<'a> ColumnDef<'a> {
    /// Reads a protocol 4.1 column definition.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("column definition", payload);
        for _catalog_schema_table_orgtable in 0..4 {
            reader.lenenc_bytes()?;
        }
        let name = String::from_utf8_lossy(reader.lenenc_bytes()?);
        reader.lenenc_bytes()?;
        let fixed = reader.lenenc_bytes()?;
        let mut fixed = Reader::new("column definition", fixed);
        let charset = fixed.u16()?;
        let length_bytes = fixed.u32()?;
        let column_type = fixed.u8()?;
        Ok(Self { name, charset, length_bytes, column_type, flags: fixed.u16()? })
    }

    /// Writes a column definition with this name.
    pub fn encode(&self) -> Vec<u8> {
        use crate::read::lenenc::write_bytes;
        let mut out = Vec::new();
        write_bytes(&mut out, b"def");
        for _schema_table_orgtable in 0..3 {
            write_bytes(&mut out, b"");
        }
        write_bytes(&mut out, self.name.as_bytes());
        write_bytes(&mut out, self.name.as_bytes());
        let mut fixed = Vec::new();
        fixed.extend_from_slice(&self.charset.to_le_bytes());
        fixed.extend_from_slice(&self.length_bytes.to_le_bytes());
        fixed.push(self.column_type);
        fixed.extend_from_slice(&self.flags.to_le_bytes());
        fixed.extend_from_slice(&[0, 0, 0]);
        write_bytes(&mut out, &fixed);
        out
    }
}

/// A row whose cells are read on demand: nothing is copied.
#[derive(Debug, Clone)]
pub struct TextRow<'a> {
    cells: Reader<'a>,
    left: u64,
}

impl<'a> Iterator for TextRow<'a> {
    type Item = Result<Option<&'a [u8]>, WireError>;

    /// The next cell; `None` in it is SQL NULL. After an error the row is over.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let cell = self.cells.lenenc_cell();
        if cell.is_err() {
            self.left = 0;
        }
        Some(cell)
    }
}

impl TextRow<'_> {
    /// Bytes of the row that are not read yet.
    pub fn unread_bytes(&self) -> usize {
        self.cells.rest().len()
    }
}

/// What one packet of the answer says.
#[derive(Debug, Clone)]
pub enum TextEvent<'a> {
    /// A statement without rows is done. Another result follows when it says so.
    Done(OkPacket),
    /// The statement failed, possibly amid its rows.
    Failed(ErrPacket),
    /// The server asks for a file of this client. The caller must refuse with an empty packet.
    LocalInfile {
        file_name: &'a [u8],
    },
    /// Columns follow.
    Columns(u64),
    Column(ColumnDef<'a>),
    /// All columns are known (only without `DEPRECATE_EOF`).
    ColumnsEnd,
    Row(TextRow<'a>),
    RowsEnd(OkPacket),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Columns { left: u64, count: u64 },
    ColumnsEnd { count: u64 },
    Rows { count: u64 },
    Over,
}

/// Reads the answer to one `COM_QUERY`; feed it each payload until [`TextResponse::is_over`].
#[derive(Debug, Clone)]
pub struct TextResponse {
    state: State,
    deprecate_eof: bool,
}

impl TextResponse {
    /// `capabilities` are those both sides have agreed on.
    pub fn new(capabilities: Capabilities) -> Self {
        Self { state: State::Head, deprecate_eof: capabilities.contains(Capabilities::DEPRECATE_EOF) }
    }

    /// No packet of this answer is to come.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Takes the next payload.
    pub fn feed<'a>(&mut self, payload: &'a [u8]) -> Result<TextEvent<'a>, WireError> {
        let mut reader = Reader::new("query answer", payload);
        let first = reader.u8()?;
        if first == 0xff && !matches!(self.state, State::Over) {
            self.state = State::Over;
            return ErrPacket::parse(payload).map(TextEvent::Failed);
        }
        match self.state {
            State::Over => {
                Err(WireError::Malformed { what: "query answer", reason: "a packet after its end" })
            }
            State::Head => match first {
                0x00 => {
                    let ok = OkPacket::parse(payload)?;
                    self.after(ok);
                    Ok(TextEvent::Done(ok))
                }
                0xfb => Ok(TextEvent::LocalInfile { file_name: reader.rest() }),
                _ => {
                    let count = Reader::new("column count", payload).lenenc_int()?;
                    if count > COLUMNS_MAX || count == 0 {
                        return Err(WireError::OverLimit {
                            what: "result set columns",
                            announced: count,
                            max: COLUMNS_MAX,
                        });
                    }
                    self.state = State::Columns { left: count, count };
                    Ok(TextEvent::Columns(count))
                }
            },
            State::Columns { left, count } => {
                let column = ColumnDef::parse(payload)?;
                self.state = match left.saturating_sub(1) {
                    0 if self.deprecate_eof => State::Rows { count },
                    0 => State::ColumnsEnd { count },
                    left => State::Columns { left, count },
                };
                Ok(TextEvent::Column(column))
            }
            State::ColumnsEnd { count } => {
                OkPacket::parse_eof(payload)?;
                self.state = State::Rows { count };
                Ok(TextEvent::ColumnsEnd)
            }
            State::Rows { count } => {
                let ends = first == 0xfe
                    && payload.len() <= if self.deprecate_eof { END_BYTES_MAX } else { EOF_BYTES_MAX };
                if !ends {
                    return Ok(TextEvent::Row(TextRow {
                        cells: Reader::new("text row", payload),
                        left: count,
                    }));
                }
                let end = if self.deprecate_eof {
                    OkPacket::parse(payload)?
                } else {
                    OkPacket::parse_eof(payload)?
                };
                self.after(end);
                Ok(TextEvent::RowsEnd(end))
            }
        }
    }

    fn after(&mut self, ok: OkPacket) {
        self.state = if ok.has_more_results() { State::Head } else { State::Over };
    }
}

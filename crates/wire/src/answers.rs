//! Answers to statements as a load generator reads them: every row is read to its end, counted and summed, and nothing is
//! kept or allocated.

use crate::packet::{FRAME_BYTES_MAX, HEADER_BYTES};
use crate::prepared::{Cell, check_binary_row, check_text_row};
use crate::read::Reader;
use crate::resultset::COLUMNS_MAX;
use crate::{Capabilities, ErrPacket, OkPacket, WireError};

const EOF_BYTES_MAX: usize = 8;

/// How the rows of an answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows<'a> {
    /// Of a prepared statement whose columns these are.
    Binary(&'a [Cell]),
    Text,
}

/// One answer, complete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub rows: u64,
    pub affected_rows: u64,
    /// Headers and payloads.
    pub bytes: u64,
    /// Of all rows, whatever their order: the wrapping sum of a hash of each payload.
    pub checksum: u64,
    /// Server status flags of the last packet.
    pub status: u16,
    /// In a box: an answer without one is handed on for every statement.
    pub error: Option<Box<ErrPacket>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No command is under way: nothing may come.
    Idle,
    Head,
    Columns {
        left: u64,
        count: u64,
    },
    ColumnsEnd {
        count: u64,
    },
    Rows {
        count: u64,
    },
}

/// Reads one answer after the other as their bytes come. Packets that lie whole in what came are read in place.
#[derive(Debug)]
pub struct AnswerReader {
    state: State,
    sequence: u8,
    /// The beginning of a packet whose rest has not come.
    spill: Vec<u8>,
    answer: Answer,
    deprecate_eof: bool,
    /// MariaDB's `CACHE_METADATA`: the server says whether column definitions follow.
    caches_metadata: bool,
}

impl AnswerReader {
    /// `capabilities` are those both sides have agreed on.
    pub fn new(capabilities: Capabilities, caches_metadata: bool) -> Self {
        Self {
            state: State::Idle,
            sequence: 0,
            spill: Vec::new(),
            answer: Answer::default(),
            deprecate_eof: capabilities.contains(Capabilities::DEPRECATE_EOF),
            caches_metadata,
        }
    }

    /// A command was sent: its answer is what comes.
    pub fn begin(&mut self) {
        self.state = State::Head;
        self.sequence = 1;
        self.answer = Answer::default();
    }

    /// Is an answer awaited?
    pub fn is_busy(&self) -> bool {
        self.state != State::Idle
    }

    /// Takes what came. `Some` is the whole answer.
    ///
    /// # Errors
    /// What is no answer to a statement, or more than one.
    pub fn feed(&mut self, bytes: &[u8], rows: Rows<'_>) -> Result<Option<Answer>, WireError> {
        let mut rest = bytes;
        loop {
            if !self.spill.is_empty() {
                let Some(after) = self.fill(rest)? else { return Ok(None) };
                rest = after;
                let packet = std::mem::take(&mut self.spill);
                let (sequence, payload) = split(&packet);
                let is_over = self.packet(sequence, payload, rows)?;
                self.spill = packet;
                self.spill.clear();
                if is_over {
                    return self.end(rest);
                }
                continue;
            }
            if let State::Rows { count } = self.state {
                rest = match rows {
                    Rows::Binary(cells) => self.rows(rest, |row| check_binary_row(row, cells))?,
                    Rows::Text => {
                        let count = usize::try_from(count).unwrap_or(usize::MAX);
                        self.rows(rest, |row| check_text_row(row, count))?
                    }
                };
            }
            let Some(length) = frame_bytes(rest)? else { break };
            let Some((packet, after)) = rest.split_at_checked(HEADER_BYTES + length) else { break };
            rest = after;
            let (sequence, payload) = split(packet);
            if self.packet(sequence, payload, rows)? {
                return self.end(rest);
            }
        }
        self.spill.extend_from_slice(rest);
        Ok(None)
    }

    /// All rows that lie whole at the beginning of what came; what is behind them. They are most of what ever comes.
    #[inline]
    fn rows<'b>(
        &mut self,
        mut rest: &'b [u8],
        check: impl Fn(&[u8]) -> Result<(), WireError>,
    ) -> Result<&'b [u8], WireError> {
        let answer = &mut self.answer;
        let (mut sequence, mut rows, mut checksum) = (self.sequence, 0, answer.checksum);
        let before_bytes = rest.len();
        while let Some((header, after)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let [a, b, c, number] = *header;
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            let Some((row, after)) = after.split_at_checked(length) else { break };
            // What ends the rows, is refused or out of order is somebody else's.
            if number != sequence || length >= FRAME_BYTES_MAX || !matches!(row.first(), Some(..=0xfd)) {
                break;
            }
            check(row)?;
            checksum = checksum.wrapping_add(hash(row));
            sequence = sequence.wrapping_add(1);
            rows += 1;
            rest = after;
        }
        answer.rows += rows;
        answer.checksum = checksum;
        answer.bytes += (before_bytes - rest.len()) as u64;
        self.sequence = sequence;
        Ok(rest)
    }

    /// Completes the packet that was begun, as far as `rest` goes; what is behind it, once it is complete.
    fn fill<'b>(&mut self, mut rest: &'b [u8]) -> Result<Option<&'b [u8]>, WireError> {
        loop {
            let wanted = match frame_bytes(&self.spill)? {
                None => HEADER_BYTES,
                Some(length) if self.spill.len() == HEADER_BYTES + length => return Ok(Some(rest)),
                Some(length) => HEADER_BYTES + length,
            };
            let missing = wanted - self.spill.len();
            let (now, after) = rest.split_at(missing.min(rest.len()));
            self.spill.extend_from_slice(now);
            rest = after;
            if now.len() < missing {
                return Ok(None);
            }
        }
    }

    fn end(&mut self, rest: &[u8]) -> Result<Option<Answer>, WireError> {
        if rest.is_empty() {
            return Ok(Some(std::mem::take(&mut self.answer)));
        }
        Err(WireError::Malformed { what: "an answer", reason: "unsolicited bytes follow" })
    }

    /// True at the end of the answer.
    fn packet(&mut self, sequence: u8, payload: &[u8], rows: Rows<'_>) -> Result<bool, WireError> {
        if self.state == State::Idle {
            return Err(WireError::Malformed { what: "an answer", reason: "nothing was asked" });
        }
        let first =
            *payload.first().ok_or(WireError::Malformed { what: "an answer", reason: "an empty packet" })?;
        // An error may come at any time, and then does not count along.
        if sequence != self.sequence && first != 0xff {
            return Err(WireError::OutOfOrder { expected: self.sequence, seen: sequence });
        }
        self.sequence = sequence.wrapping_add(1);
        self.answer.bytes += (payload.len() + HEADER_BYTES) as u64;
        if first == 0xff {
            self.answer.error = Some(Box::new(ErrPacket::parse(payload)?));
            self.state = State::Idle;
            return Ok(true);
        }
        match self.state {
            State::Idle => {}
            State::Head if first == 0 => return OkPacket::parse(payload).map(|ok| self.after(ok)),
            State::Head if first == 0xfb => {
                return Err(WireError::Malformed { what: "an answer", reason: "the server asks for a file" });
            }
            State::Head => {
                let mut reader = Reader::new("column count", payload);
                let count = reader.lenenc_int()?;
                if count > COLUMNS_MAX {
                    return Err(WireError::OverLimit { what: "columns", announced: count, max: COLUMNS_MAX });
                }
                if matches!(rows, Rows::Binary(cells) if cells.len() as u64 != count) {
                    return Err(reader.malformed("it is another one than when the statement was prepared"));
                }
                let definitions_follow = !self.caches_metadata || reader.u8()? != 0;
                reader.end()?;
                self.state = if definitions_follow {
                    State::Columns { left: count, count }
                } else {
                    self.behind_columns(count)
                };
            }
            State::Columns { left, count } => {
                self.state = match left.saturating_sub(1) {
                    0 => self.behind_columns(count),
                    left => State::Columns { left, count },
                };
            }
            State::ColumnsEnd { count } => {
                OkPacket::parse_eof(payload)?;
                self.state = State::Rows { count };
            }
            State::Rows { count } => {
                let end_bytes_max = if self.deprecate_eof { FRAME_BYTES_MAX } else { EOF_BYTES_MAX };
                if first == 0xfe && payload.len() <= end_bytes_max {
                    let parse = if self.deprecate_eof { OkPacket::parse } else { OkPacket::parse_eof };
                    return parse(payload).map(|ok| self.after(ok));
                }
                match rows {
                    Rows::Binary(cells) => check_binary_row(payload, cells)?,
                    Rows::Text => check_text_row(payload, usize::try_from(count).unwrap_or(usize::MAX))?,
                }
                self.answer.rows += 1;
                self.answer.checksum = self.answer.checksum.wrapping_add(hash(payload));
            }
        }
        Ok(false)
    }

    fn behind_columns(&self, count: u64) -> State {
        if self.deprecate_eof { State::Rows { count } } else { State::ColumnsEnd { count } }
    }

    fn after(&mut self, ok: OkPacket) -> bool {
        self.answer.affected_rows += ok.affected_rows;
        self.answer.status = ok.status;
        let is_over = !ok.has_more_results();
        self.state = if is_over { State::Idle } else { State::Head };
        is_over
    }
}

/// The payload's length, once its header is there. Rows of 16 MiB and more are refused: no workload has them.
fn frame_bytes(bytes: &[u8]) -> Result<Option<usize>, WireError> {
    let Some([a, b, c, _]) = bytes.first_chunk() else { return Ok(None) };
    let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
    if length < FRAME_BYTES_MAX {
        return Ok(Some(length));
    }
    Err(WireError::OverLimit { what: "a packet", announced: length as u64, max: FRAME_BYTES_MAX as u64 - 1 })
}

fn split(packet: &[u8]) -> (u8, &[u8]) {
    match packet.split_first_chunk() {
        Some(([_, _, _, sequence], payload)) => (*sequence, payload),
        None => (0, &[]),
    }
}

/// Sixteen bytes at a time, each step both halves of a product: to tell results apart, not against anybody.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    const K: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let mix = |state: u64, block: &[u8; 16]| {
        let [a, b] = halves(u128::from_le_bytes(*block));
        let [low, high] = halves(u128::from(state ^ a) * u128::from(K[1] ^ b));
        low ^ high
    };
    let (blocks, tail) = bytes.as_chunks::<16>();
    let state = blocks.iter().fold(K[0] ^ bytes.len() as u64, mix);
    // The last sixteen once more stand for a tail.
    match bytes.last_chunk::<16>() {
        Some(_) if tail.is_empty() => state,
        Some(last) => mix(state, last),
        None => {
            let mut last = [0; 16];
            last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
            mix(state, &last)
        }
    }
}

/// The lower and the upper one.
#[inline]
fn halves(both: u128) -> [u64; 2] {
    let [low, high] = [both, both >> 64].map(|half| half & u128::from(u64::MAX));
    [low, high].map(|half| u64::try_from(half).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::write_payload;
    use crate::resultset::ColumnDef;

    const TWO: [Cell; 2] = [Cell::Fixed { bytes: 4 }, Cell::Counted];

    /// An answer of one column definition less than columns where the server leaves them out.
    fn answer(rows: &[&[u8]], deprecate_eof: bool, definitions: Option<bool>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sequence = 1;
        let mut put = |payload: &[u8]| write_payload(&mut out, &mut sequence, payload);
        let ok = OkPacket { status: 2, ..OkPacket::default() };
        match definitions {
            None => put(&[2]),
            Some(follow) => put(&[2, u8::from(follow)]),
        }
        if definitions != Some(false) {
            for name in ["a", "b"] {
                let column_type = if name == "a" { 3 } else { 254 };
                let column =
                    ColumnDef { name: name.into(), charset: 33, length_bytes: 120, column_type, flags: 0 };
                put(&column.encode());
            }
        }
        if !deprecate_eof {
            put(&[0xfe, 0, 0, 2, 0]);
        }
        for row in rows {
            put(row);
        }
        if deprecate_eof {
            put(&ok.encode(0xfe));
        } else {
            put(&[0xfe, 0, 0, 2, 0]);
        }
        out
    }

    fn reader(deprecate_eof: bool, caches_metadata: bool) -> AnswerReader {
        let flags = if deprecate_eof { Capabilities::DEPRECATE_EOF } else { Capabilities::default() };
        let mut reader = AnswerReader::new(flags, caches_metadata);
        reader.begin();
        reader
    }

    fn read(mut reader: AnswerReader, bytes: &[u8], cut: usize) -> Result<Option<Answer>, WireError> {
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        match reader.feed(head, Rows::Binary(&TWO))? {
            Some(answer) => Ok(Some(answer)),
            None => reader.feed(tail, Rows::Binary(&TWO)),
        }
    }

    #[test]
    fn answers_are_read_wherever_they_are_cut() {
        let rows: [&[u8]; 3] =
            [&[0, 0, 1, 0, 0, 0, 1, b'x'], &[0, 8, 2, 0, 0, 0], &[0, 0, 3, 0, 0, 0, 2, b'y', b'z']];
        let mut seen = None;
        for (deprecate_eof, definitions) in
            [(true, None), (false, None), (true, Some(true)), (true, Some(false)), (false, Some(false))]
        {
            let bytes = answer(&rows, deprecate_eof, definitions);
            for cut in 0..bytes.len() {
                let got = read(reader(deprecate_eof, definitions.is_some()), &bytes, cut);
                let got = got.expect("an answer").expect("all of it");
                assert_eq!((got.rows, got.bytes, got.status), (3, bytes.len() as u64, 2));
                // The same rows, the same sum.
                assert_eq!(*seen.get_or_insert(got.checksum), got.checksum);
            }
        }
        let backwards = answer(&[rows[2], rows[0], rows[1]], true, None);
        let got = read(reader(true, false), &backwards, 0).expect("an answer").expect("all of it");
        assert_eq!(Some(got.checksum), seen);
        let other = answer(&[rows[2], rows[0]], true, None);
        assert_ne!(read(reader(true, false), &other, 0).expect("read").expect("all").checksum, got.checksum);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let good = answer(&[&[0, 0, 1, 0, 0, 0, 0]], true, None);
        let check = |bytes: &[u8], what: &str| {
            let error = read(reader(true, false), bytes, usize::MAX).expect_err(what);
            assert!(!error.to_string().is_empty());
        };
        check(&[good.as_slice(), &[1, 0, 0, 0, 0]].concat(), "more than was asked for");
        check(&[1, 0, 0, 9, 2], "a number out of turn");
        check(&[1, 0, 0, 1, 3], "three columns where two were prepared");
        check(&[0, 0, 0, 1], "an empty packet");
        check(&[2, 0, 0, 1, 0xfb, b'f'], "a wish for a file");
        check(&[0xff, 0xff, 0xff, 1], "16 MiB");
        check(&answer(&[&[0, 0, 1, 0, 0, 0, 9]], true, None), "a row that ends early");
        let mut idle = AnswerReader::new(Capabilities::default(), false);
        assert!(idle.feed(&[1, 0, 0, 1, 0], Rows::Text).is_err());
        // An error in the middle of rows ends the answer, with any number.
        let mut bytes = good.split_at(good.len() - 11).0.to_vec();
        bytes.extend_from_slice(&[9, 0, 0, 77, 0xff, 0x25, 0x05]);
        bytes.extend_from_slice(b"#70100");
        let got = read(reader(true, false), &bytes, 3).expect("an answer").expect("all of it");
        assert_eq!(got.error.map(|error| error.code), Some(1317));
    }

    #[test]
    fn every_byte_of_a_row_is_in_the_sum() {
        for length in 0..70_u8 {
            let row: Vec<u8> = (0..length).collect();
            let mut seen = vec![hash(&row)];
            for at in 0..row.len() {
                let mut other = row.clone();
                other[at] ^= 0x20;
                seen.push(hash(&other));
            }
            // And how many there are.
            seen.push(hash(&[&row[..], &[0]].concat()));
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), row.len() + 2, "{length} bytes");
        }
    }

    #[test]
    fn rows_of_text_begin_with_anything_but_an_error() {
        // NULL first; a text of 300 bytes first; and one that begins as an EOF does, and is longer.
        let long = [&[0xfc, 44, 1][..], &[b'x'; 300], &[0xfb]].concat();
        let huge = [&[0xfe, 44, 1, 0, 0, 0, 0, 0, 0][..], &[b'y'; 300], &[1, b'z']].concat();
        let rows: [&[u8]; 3] = [&[0xfb, 1, b'a'], &long, &huge];
        let read = |rows: &[&[u8]], eof: bool| {
            let bytes = answer(rows, eof, None);
            reader(eof, false).feed(&bytes, Rows::Text).expect("an answer").expect("all of it").rows
        };
        assert_eq!((read(&rows, false), read(&rows[..2], false), read(&rows[..2], true)), (3, 2, 2));
    }

    proptest! {
        /// Rows are read in a loop where they lie whole, and one by one where they do not.
        #[test]
        fn rows_are_the_same_in_whatever_pieces_they_come(
            lengths in prop::collection::vec(0u8..200, 0..600), pieces in prop::collection::vec(1usize..3000, 1..40), eof: bool, refused: bool,
        ) {
            let row = |(length, number): (&u8, u32)| {
                let number = number.to_le_bytes();
                let text: Vec<u8> = (0..*length).map(|byte| byte.wrapping_mul(7).wrapping_add(number[0])).collect();
                [&[0, 0][..], &number, &[*length], &text].concat()
            };
            let rows: Vec<Vec<u8>> = lengths.iter().zip(0..).map(row).collect();
            let slices: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
            let mut bytes = answer(&slices, eof, None);
            if refused {
                // In the place of the end, whose length is known.
                bytes.truncate(bytes.len() - if eof { 11 } else { 9 });
                bytes.extend_from_slice(&[9, 0, 0, 0, 0xff, 0x25, 0x05]);
                bytes.extend_from_slice(b"#70100");
            }
            let mut reader = reader(eof, false);
            let (mut rest, mut got, mut sizes) = (bytes.as_slice(), None, pieces.iter().cycle());
            while !rest.is_empty() {
                prop_assert!(got.is_none());
                let size = sizes.next().copied().unwrap_or(1).min(rest.len());
                let (piece, after) = rest.split_at(size);
                got = reader.feed(piece, Rows::Binary(&TWO)).expect("an answer");
                rest = after;
            }
            let got = got.expect("all of it");
            let sum = rows.iter().fold(0_u64, |sum, row| sum.wrapping_add(hash(row)));
            prop_assert_eq!((got.rows, got.checksum, got.bytes), (rows.len() as u64, sum, bytes.len() as u64));
            prop_assert_eq!(got.error.is_some(), refused);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..300, eof: bool, cache: bool) {
            let _ = read(reader(eof, cache), &bytes, cut);
            let mut text = reader(eof, cache);
            let _ = text.feed(&bytes, Rows::Text);
        }

        #[test]
        fn no_change_of_an_answer_panics(at in 0usize..120, to: u8, cut in 0usize..120) {
            let mut bytes = answer(&[&[0, 0, 1, 0, 0, 0, 1, b'x']], true, None);
            let at = at % bytes.len();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            let _ = read(reader(true, false), &bytes, cut);
        }
    }
}

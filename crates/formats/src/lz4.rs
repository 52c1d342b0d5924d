//! Frames of LZ4, one after the other (`.lz4` of XtraBackup). All numbers are little-endian.
//!
//! ```text
//! magic 0x184D2204 | FLG u8 | BD u8 | [content bytes u64] | [dictionary u32] |
//! HC u8 (second byte of the XXH32 of FLG to here)
//! blocks: length u32 (highest bit: stored) | bytes | [XXH32 u32];  length 0 is the end
//! [XXH32 of the content u32]
//! ```
//! Source: `lz4_Frame_format.md` 1.6.4 of the LZ4 project. Blocks are decompressed by the crate `lz4_flex`.

use std::hash::Hasher as _;

use twox_hash::XxHash32;

use crate::bytes::{le32, le64};

const MAGIC: u32 = 0x184D_2204;
const VERSION: u8 = 0x40;
const STORED: u32 = 1 << 31;
/// How far back a block that is not independent may reach.
const HISTORY_BYTES: usize = 64 << 10;
/// The largest that BD can name. Source: the format, "Block Maximum Size".
const BLOCK_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("no frame of LZ4 begins there")]
    Magic,
    #[error("a frame of LZ4 has a header that makes no sense")]
    Head,
    #[error("a frame of LZ4 needs a dictionary, which is not here")]
    Dictionary,
    #[error("a block of LZ4 has {found} bytes; its frame announced no more than {most}")]
    Block { found: usize, most: usize },
    #[error("a block of LZ4 cannot be decompressed")]
    Packet,
    #[error("a checksum of LZ4 is 0x{found:08x}, and should be 0x{wanted:08x}: bytes were changed or lost")]
    Hash { found: u32, wanted: u32 },
    #[error("a frame of LZ4 announced {wanted} bytes and has {found}")]
    Content { found: u64, wanted: u64 },
}

/// What was understood of the bytes that were offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Too few bytes: with this many, from the same beginning, it goes on.
    Needs(usize),
    /// This many are done with; what they brought is in [`Decoder::output`].
    Took(usize),
}

struct Frame {
    is_independent: bool,
    has_block_hash: bool,
    has_content_hash: bool,
    content_bytes: Option<u64>,
    block_bytes_max: usize,
    hash: XxHash32,
    written_bytes: u64,
}

/// Reads frames one after the other.
#[derive(Default)]
pub struct Decoder {
    frame: Option<Frame>,
    /// What blocks may reach back to, and behind it what the last one brought.
    buffer: Vec<u8>,
    new_from: usize,
}

impl Decoder {
    /// Whether a frame may end here.
    pub fn is_between_frames(&self) -> bool {
        self.frame.is_none()
    }

    /// Of the last step.
    pub fn output(&self) -> &[u8] {
        self.buffer.get(self.new_from..).unwrap_or_default()
    }

    /// One header, block or end.
    ///
    /// # Errors
    /// The bytes are no frame.
    pub fn step(&mut self, bytes: &[u8]) -> Result<Step, FrameError> {
        self.new_from = self.buffer.len();
        match self.frame.take() {
            None => self.head(bytes),
            Some(mut frame) => {
                let (step, is_over) = self.block(&mut frame, bytes)?;
                if !is_over {
                    self.frame = Some(frame);
                }
                Ok(step)
            }
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Result<Step, FrameError> {
        let (Some(magic), Some(&[flags, sizes])) =
            (le32(bytes, 0), bytes.get(4..).and_then(|rest| rest.first_chunk()))
        else {
            return Ok(Step::Needs(7));
        };
        if magic != MAGIC {
            return Err(FrameError::Magic);
        }
        if flags & 0xc2 != VERSION || sizes & 0x8f != 0 {
            return Err(FrameError::Head);
        }
        if flags & 0x01 != 0 {
            return Err(FrameError::Dictionary);
        }
        let block_bytes_max = match sizes >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => BLOCK_BYTES_MAX,
            _ => return Err(FrameError::Head),
        };
        let has_content_bytes = flags & 0x08 != 0;
        let hashed_end = if has_content_bytes { 14 } else { 6 };
        let (Some(hashed), Some(hash)) = (bytes.get(4..hashed_end), bytes.get(hashed_end)) else {
            return Ok(Step::Needs(hashed_end + 1));
        };
        if XxHash32::oneshot(0, hashed).to_le_bytes()[1] != *hash {
            return Err(FrameError::Head);
        }
        self.buffer.clear();
        self.new_from = 0;
        self.frame = Some(Frame {
            is_independent: flags & 0x20 != 0,
            has_block_hash: flags & 0x10 != 0,
            has_content_hash: flags & 0x04 != 0,
            content_bytes: has_content_bytes.then(|| le64(bytes, 6)).flatten(),
            block_bytes_max,
            hash: XxHash32::with_seed(0),
            written_bytes: 0,
        });
        Ok(Step::Took(hashed_end + 1))
    }

    /// And whether the frame is over.
    fn block(&mut self, frame: &mut Frame, bytes: &[u8]) -> Result<(Step, bool), FrameError> {
        let Some(word) = le32(bytes, 0) else { return Ok((Step::Needs(4), false)) };
        if word == 0 {
            return end(frame, bytes);
        }
        let length = usize::try_from(word & !STORED).unwrap_or(usize::MAX);
        if length > frame.block_bytes_max {
            return Err(FrameError::Block { found: length, most: frame.block_bytes_max });
        }
        let end = 4 + length + if frame.has_block_hash { 4 } else { 0 };
        let (Some(packet), true) = (bytes.get(4..4 + length), bytes.len() >= end) else {
            return Ok((Step::Needs(end), false));
        };
        if frame.has_block_hash {
            same_hash(XxHash32::oneshot(0, packet), le32(bytes, 4 + length))?;
        }
        self.keep_history(frame.is_independent);
        if word & STORED == 0 {
            self.buffer.resize(self.new_from + frame.block_bytes_max, 0);
            let (history, room) = self.buffer.split_at_mut(self.new_from);
            let written = lz4_flex::block::decompress_into_with_dict(packet, room, history)
                .map_err(|_| FrameError::Packet)?;
            self.buffer.truncate(self.new_from + written);
        } else {
            self.buffer.extend_from_slice(packet);
        }
        let output = self.buffer.get(self.new_from..).unwrap_or_default();
        if frame.has_content_hash {
            frame.hash.write(output);
        }
        frame.written_bytes = frame.written_bytes.saturating_add(output.len() as u64);
        if let Some(wanted) = frame.content_bytes
            && frame.written_bytes > wanted
        {
            return Err(FrameError::Content { found: frame.written_bytes, wanted });
        }
        Ok((Step::Took(end), false))
    }

    fn keep_history(&mut self, is_independent: bool) {
        let keep = if is_independent { 0 } else { HISTORY_BYTES };
        self.buffer.drain(..self.buffer.len().saturating_sub(keep));
        self.new_from = self.buffer.len();
    }
}

fn end(frame: &Frame, bytes: &[u8]) -> Result<(Step, bool), FrameError> {
    let end = if frame.has_content_hash { 8 } else { 4 };
    if bytes.len() < end {
        return Ok((Step::Needs(end), false));
    }
    if frame.has_content_hash {
        same_hash(frame.hash.finish_32(), le32(bytes, 4))?;
    }
    match frame.content_bytes {
        Some(wanted) if wanted != frame.written_bytes => {
            Err(FrameError::Content { found: frame.written_bytes, wanted })
        }
        _ => Ok((Step::Took(end), true)),
    }
}

fn same_hash(found: u32, wanted: Option<u32>) -> Result<(), FrameError> {
    match wanted {
        Some(wanted) if wanted == found => Ok(()),
        wanted => Err(FrameError::Hash { found, wanted: wanted.unwrap_or_default() }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// With every checksum, blocks of 64 KiB and the content's length.
    fn frame(blocks: &[Vec<u8>]) -> Vec<u8> {
        let content: Vec<u8> = blocks.concat();
        let mut out = MAGIC.to_le_bytes().to_vec();
        out.extend([0x7c, 0x40]);
        out.extend((content.len() as u64).to_le_bytes());
        out.push(XxHash32::oneshot(0, &out[4..]).to_le_bytes()[1]);
        for block in blocks {
            let packet = lz4_flex::block::compress(block);
            let (packet, flag) =
                if packet.len() < block.len() { (packet, 0) } else { (block.clone(), STORED) };
            out.extend((u32::try_from(packet.len()).unwrap() | flag).to_le_bytes());
            out.extend(&packet);
            out.extend(XxHash32::oneshot(0, &packet).to_le_bytes());
        }
        out.extend([0; 4]);
        out.extend(XxHash32::oneshot(0, &content).to_le_bytes());
        out
    }

    fn read(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        let (mut decoder, mut out) = (Decoder::default(), vec![]);
        while !bytes.is_empty() {
            match decoder.step(bytes)? {
                Step::Needs(more) => {
                    assert!(more > bytes.len());
                    return Ok(None);
                }
                Step::Took(used) => bytes = &bytes[used..],
            }
            out.extend(decoder.output());
        }
        Ok(decoder.is_between_frames().then_some(out))
    }

    proptest! {
        #[test]
        fn frames_come_back_and_nothing_changed_or_cut_does(
            blocks in proptest::collection::vec(proptest::collection::vec(0u8..4, 1..300), 1..5),
            at: usize,
            bit in 0u8..8,
        ) {
            let one = frame(&blocks);
            let two = [&one[..], &one].concat();
            let content = blocks.concat();
            prop_assert_eq!(read(&two), Ok(Some([&content[..], &content].concat())));
            let end = 1 + at % (one.len() - 1);
            prop_assert_eq!(read(&one[..end]), Ok(None));
            let mut other = one.clone();
            other[at % one.len()] ^= 1 << bit;
            if let Ok(Some(read)) = read(&other) {
                prop_assert_eq!(read, content);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            let head = frame(&[]);
            let _ = read(&[&head[..15], &bytes].concat());
        }
    }
}

//! `.zst`: frames of Zstandard, one after the other.
//!
//! ruzstd decodes blocks; where a frame's header and a block end is told here, so that it is never given half of one.
//!
//! Source: RFC 8878, 3.1.

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Layer, Next, Pending, Step};

const MAGIC: u32 = 0xFD2F_B528;
/// 16 of them, by their lowest four bits.
const SKIPPABLE: u32 = 0x184D_2A50;
/// What a frame may make its reader keep. XtraBackup's highest level asks for 8 MiB.
const WINDOW_BYTES_MAX: u64 = 32 << 20;
/// Source: RFC 8878, 3.1.1.2.4, `Block_Maximum_Size`.
const BLOCK_BYTES_MAX: usize = 128 << 10;

enum State {
    Between,
    Skipping { left_bytes: u64 },
    Frame { has_checksum: bool, content_bytes: Option<u64>, written_bytes: u64 },
}

pub struct Zstd {
    pending: Pending,
    state: State,
    decoder: FrameDecoder,
    out: Vec<u8>,
    /// The largest that a frame has asked for: the decoder keeps it.
    window_bytes: usize,
}

impl Zstd {
    pub fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Self {
            pending: Pending::default(),
            state: State::Between,
            decoder,
            out: vec![0; BLOCK_BYTES_MAX],
            window_bytes: 0,
        }
    }
}

/// How long a frame's header is, by its descriptor.
fn head_bytes(descriptor: u8) -> usize {
    let is_single_segment = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(4);
    let content = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    5 + usize::from(!is_single_segment) + dictionary + content
}

/// The window that a frame's header asks for; the decoder has refused what is beyond the limit.
fn asked_bytes(head: &[u8], content_bytes: Option<u64>) -> usize {
    let descriptor = head.get(4).copied().unwrap_or_default();
    if descriptor & 0x20 != 0 {
        return usize::try_from(content_bytes.unwrap_or_default()).unwrap_or(usize::MAX);
    }
    let window = head.get(5).copied().unwrap_or_default();
    let base = 1_usize << (10 + (window >> 3)).min(62);
    base.saturating_add((base / 8).saturating_mul(usize::from(window & 7)))
}

fn step(
    bytes: &[u8],
    state: &mut State,
    decoder: &mut FrameDecoder,
    out: &mut [u8],
    next: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<Step, String> {
    match state {
        State::Skipping { left_bytes } => {
            let now = usize::try_from(*left_bytes).unwrap_or(usize::MAX).min(bytes.len());
            *left_bytes -= now as u64;
            if *left_bytes == 0 {
                *state = State::Between;
            }
            Ok(Step::Took(now))
        }
        State::Between => {
            let Some((magic, rest)) = bytes.split_first_chunk::<4>() else { return Ok(Step::Needs(5)) };
            let magic = u32::from_le_bytes(*magic);
            if magic & !0xf == SKIPPABLE {
                let Some(length) = rest.first_chunk::<4>() else { return Ok(Step::Needs(8)) };
                let left_bytes = u64::from(u32::from_le_bytes(*length));
                *state = if left_bytes == 0 { State::Between } else { State::Skipping { left_bytes } };
                return Ok(Step::Took(8));
            }
            if magic != MAGIC {
                return Err("no frame of Zstandard begins there".into());
            }
            let Some(descriptor) = rest.first().copied() else { return Ok(Step::Needs(5)) };
            let end = head_bytes(descriptor);
            let Some(mut head) = bytes.get(..end) else { return Ok(Step::Needs(end)) };
            decoder
                .reset(&mut head)
                .map_err(|error| format!("a frame of Zstandard cannot be read: {error}"))?;
            let has_content_bytes = descriptor & 0x20 != 0 || descriptor >> 6 != 0;
            *state = State::Frame {
                has_checksum: descriptor & 0x04 != 0,
                content_bytes: has_content_bytes.then(|| decoder.content_size()),
                written_bytes: 0,
            };
            Ok(Step::Took(end))
        }
        State::Frame { has_checksum, content_bytes, written_bytes } => {
            let Some([a, b, c]) = bytes.first_chunk::<3>() else { return Ok(Step::Needs(3)) };
            let word = u32::from_le_bytes([*a, *b, *c, 0]);
            let (is_last, is_repeated, size) = (word & 1 == 1, (word >> 1) & 3 == 1, (word >> 3) as usize);
            if size > BLOCK_BYTES_MAX {
                return Err(format!(
                    "a block of Zstandard has {size} bytes; none has more than {BLOCK_BYTES_MAX}"
                ));
            }
            let end = 3 + if is_repeated { 1 } else { size } + if is_last && *has_checksum { 4 } else { 0 };
            let Some(mut block) = bytes.get(..end) else { return Ok(Step::Needs(end)) };
            decoder
                .decode_blocks(&mut block, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| format!("a block of Zstandard cannot be decompressed: {error}"))?;
            loop {
                let count = decoder.read(out).map_err(|error| error.to_string())?;
                if count == 0 {
                    break;
                }
                *written_bytes = written_bytes.saturating_add(count as u64);
                if content_bytes.is_some_and(|most| *written_bytes > most) {
                    return Err("a frame of Zstandard has more bytes than it says".into());
                }
                next(out.get(..count).unwrap_or_default())?;
            }
            if is_last {
                if content_bytes.is_some_and(|wanted| *written_bytes != wanted) {
                    return Err("a frame of Zstandard has fewer bytes than it says".into());
                }
                if *has_checksum && decoder.get_checksum_from_data() != decoder.get_calculated_checksum() {
                    return Err(
                        "the checksum of a frame of Zstandard is wrong: it was changed or lost".into()
                    );
                }
                *state = State::Between;
            }
            Ok(Step::Took(end))
        }
    }
}

impl Layer for Zstd {
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String> {
        let Self { pending, state, decoder, out, window_bytes } = self;
        pending.push(bytes, |bytes| {
            let is_between = matches!(state, State::Between);
            let taken = step(bytes, state, decoder, out, next)?;
            if is_between && let State::Frame { content_bytes, .. } = state {
                *window_bytes = (*window_bytes).max(asked_bytes(bytes, *content_bytes));
            }
            Ok(taken)
        })
    }

    fn finish(&self) -> Result<(), String> {
        self.pending.finish("Zstandard")?;
        match self.state {
            State::Between => Ok(()),
            State::Skipping { .. } | State::Frame { .. } => Err("it ends inside a frame of Zstandard".into()),
        }
    }

    fn held_bytes(&self) -> usize {
        self.pending.held_bytes() + self.out.capacity() + self.window_bytes
    }
}

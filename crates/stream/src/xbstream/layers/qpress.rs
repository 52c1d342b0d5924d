//! `.qp`

use formats::qpress::{Part, parse_block, parse_file, quicklz};

use super::{Layer, Next, Pending, Step};

#[derive(Default)]
enum State {
    #[default]
    Start,
    Blocks {
        block_bytes_max: usize,
    },
    Over,
}

#[derive(Default)]
pub struct Qpress {
    pending: Pending,
    state: State,
    /// Of the next block.
    offset: u64,
    table: quicklz::Table,
    plain: Vec<u8>,
}

impl Layer for Qpress {
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String> {
        let Self { pending, state, offset, table, plain } = self;
        pending.push(bytes, |bytes| {
            let part = match state {
                State::Start => parse_file(bytes),
                State::Blocks { block_bytes_max } => parse_block(bytes, *block_bytes_max),
                State::Over => return Err("something follows the end of its archive of qpress".into()),
            };
            match part.map_err(|error| error.to_string())? {
                Part::Needs(count) => Ok(Step::Needs(count)),
                Part::File { block_bytes_max, bytes } => {
                    *state = State::Blocks { block_bytes_max };
                    Ok(Step::Took(bytes))
                }
                Part::Block { offset: written, packet, bytes, .. } => {
                    if written != *offset {
                        return Err(format!(
                            "its block for byte {written} came where that for byte {offset} belongs"
                        ));
                    }
                    quicklz::decompress(packet, table, plain)
                        .map_err(|error| format!("a block of qpress cannot be decompressed: {error}"))?;
                    *offset = offset.saturating_add(plain.len() as u64);
                    next.take(plain)?;
                    Ok(Step::Took(bytes))
                }
                Part::End { bytes } => {
                    *state = State::Over;
                    Ok(Step::Took(bytes))
                }
            }
        })
    }

    fn finish(&self) -> Result<(), String> {
        match self.state {
            State::Over => Ok(()),
            State::Start | State::Blocks { .. } => Err("it ends before its archive of qpress does".into()),
        }
    }

    fn held_bytes(&self) -> usize {
        self.pending.held_bytes() + self.plain.capacity()
    }
}

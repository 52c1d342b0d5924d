//! `.zst`: frames of Zstandard, one after the other.
//!
//! The library of the format's authors decodes them; it checks the lengths and the checksum that a frame has.
//!
//! Source: zstd.h, `ZSTD_decompressStream`: 0 is the end of a frame, behind which the next one may begin.

use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer};

use super::{Layer, Next};

/// What a frame may make its reader keep, as a power of two. XtraBackup's highest level asks for 8 MiB.
const WINDOW_LOG_MAX: u32 = 25;

pub struct Zstd {
    context: DCtx<'static>,
    is_set_up: bool,
    out: Vec<u8>,
    is_between: bool,
    has_begun: bool,
}

impl Zstd {
    pub fn new() -> Self {
        let mut context = DCtx::create();
        let is_set_up = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).is_ok();
        Self { context, is_set_up, out: vec![0; DCtx::out_size()], is_between: true, has_begun: false }
    }
}

impl Layer for Zstd {
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String> {
        if !self.is_set_up {
            return Err("the library of Zstandard takes no limit".into());
        }
        self.has_begun |= !bytes.is_empty();
        let mut input = InBuffer::around(bytes);
        loop {
            let room = next.room(1);
            let is_room = !room.is_empty();
            let into = if is_room { room } else { self.out.as_mut_slice() };
            let into_bytes = into.len();
            let mut output = OutBuffer::around(into);
            let begin = input.pos();
            let wanted = self.context.decompress_stream(&mut output, &mut input).map_err(|code| {
                format!(
                    "no frame of Zstandard begins there, or it was changed: {}",
                    zstd_safe::get_error_name(code)
                )
            })?;
            let count = output.pos();
            // Behind the end of a frame, nothing more comes of what it had.
            let is_idle = count == 0 && input.pos() == begin;
            if !is_idle {
                self.is_between = wanted == 0;
            }
            if is_room {
                next.made(count)?;
            } else {
                next.take(self.out.get(..count).unwrap_or_default())?;
            }
            if is_idle || (input.pos() == bytes.len() && count < into_bytes) {
                return Ok(());
            }
        }
    }

    fn finish(&self) -> Result<(), String> {
        if !self.has_begun {
            return Err(super::EMPTY.into());
        }
        if self.is_between { Ok(()) } else { Err("it ends inside a frame of Zstandard".into()) }
    }

    fn held_bytes(&self) -> usize {
        self.out.capacity() + self.context.sizeof()
    }
}

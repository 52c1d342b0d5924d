//! Pieces that travel smaller than they are.

use crate::StreamError;
use crate::frame::{DATA_BYTES_MAX, HEADER_BYTES, PACKED_HEAD_BYTES, packed_head};

/// The fastest that still pays.
const LEVEL: i32 = 1;
/// What does not become shorter by this part is sent as it is: the other end has less to do.
const SAVED_PART_MIN: usize = 16;
const HEAD_BYTES: usize = HEADER_BYTES + PACKED_HEAD_BYTES;

pub struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
    packed: Vec<u8>,
    framed: Vec<u8>,
}

impl Packer {
    pub fn new() -> Result<Self, StreamError> {
        let said = |error: std::io::Error| StreamError::Setup {
            what: "Zstandard cannot compress".into(),
            why: error.to_string(),
            next: "send it as it is: --compress none".into(),
        };
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(said)?;
        // Nobody needs it: every byte is authenticated and hashed.
        compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(false)).map_err(said)?;
        Ok(Self { compressor, packed: Vec::with_capacity(DATA_BYTES_MAX), framed: Vec::new() })
    }

    /// As a [`crate::frame::Frame::Packed`]; `None`: it would not become much shorter.
    pub fn frame(&mut self, entry: u64, offset: u64, bytes: &[u8]) -> Option<&[u8]> {
        let most = bytes.len() - bytes.len() / SAVED_PART_MIN;
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        let length = self.compressor.compress_to_buffer(bytes, &mut self.packed).ok()?;
        if length >= most {
            return None;
        }
        self.framed.clear();
        self.framed.extend_from_slice(&packed_head(entry, offset, bytes.len(), length));
        self.framed.extend_from_slice(self.packed.get(..length)?);
        debug_assert_eq!(self.framed.len(), HEAD_BYTES + length);
        Some(&self.framed)
    }
}

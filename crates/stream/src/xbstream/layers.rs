//! What lies around the bytes of a file, told by the last parts of its name, the outermost last: `t.ibd.zst.xbcrypt`.
//!
//! A layer is pushed bytes as they come, and pushes on what they were. It keeps no more than one unit of its format.

mod qpress;
pub mod xbcrypt;
mod zstd;

use formats::lz4;

use super::Decryption;

/// What takes the bytes that were in a layer.
pub trait Sink {
    /// # Errors
    /// It cannot take them, or what lies in them is wrong.
    fn take(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Memory of its own for at least so many bytes, which need not be copied then; empty where it has none. [`Self::made`] says how many came.
    fn room(&mut self, _at_least: usize) -> &mut [u8] {
        &mut []
    }

    /// # Errors
    /// As [`Self::take`].
    fn made(&mut self, _count: usize) -> Result<(), String> {
        Err("bytes came where there is no room for them".into())
    }
}

impl<F: FnMut(&[u8]) -> Result<(), String>> Sink for F {
    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        self(bytes)
    }
}

/// Where the bytes of a layer go to.
pub type Next<'n> = &'n mut dyn Sink;

pub trait Layer: Send {
    /// # Errors
    /// The bytes are none of this format, or were changed.
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String>;

    /// Nothing follows.
    ///
    /// # Errors
    /// Something should.
    fn finish(&self) -> Result<(), String>;

    /// In memory, until more comes.
    fn held_bytes(&self) -> usize;
}

const ENCRYPTED: &[u8] = b".xbcrypt";

/// The layers of a file that are to be taken off, the outermost first, and its name without them.
pub struct Chain {
    pub layers: Vec<Box<dyn Layer>>,
    pub path: Vec<u8>,
    pub is_encrypted: bool,
}

/// # Errors
/// What was asked for cannot be done with this file.
pub fn chain(path: &[u8], decryption: Option<&Decryption>, decompress: bool) -> Result<Chain, String> {
    let mut layers: Vec<Box<dyn Layer>> = Vec::new();
    let mut rest = path;
    let mut is_encrypted = false;
    if let Some(inner) = rest.strip_suffix(ENCRYPTED) {
        if let Some(decryption) = decryption {
            layers.push(Box::new(xbcrypt::Xbcrypt::new(decryption.clone())));
            (rest, is_encrypted) = (inner, true);
        } else if decompress {
            return Err(
                "it is encrypted, so that it cannot be decompressed: give --decrypt and the key file too"
                    .into(),
            );
        }
    }
    if decompress {
        if let Some(inner) = rest.strip_suffix(b".qp") {
            layers.push(Box::new(qpress::Qpress::default()));
            rest = inner;
        } else if let Some(inner) = rest.strip_suffix(b".zst") {
            layers.push(Box::new(zstd::Zstd::new()));
            rest = inner;
        } else if let Some(inner) = rest.strip_suffix(b".lz4") {
            layers.push(Box::new(Lz4::default()));
            rest = inner;
        }
    }
    Ok(Chain { layers, path: rest.to_vec(), is_encrypted })
}

/// Through all layers.
pub fn push(layers: &mut [Box<dyn Layer>], bytes: &[u8], sink: Next<'_>) -> Result<(), String> {
    match layers.split_first_mut() {
        None => sink.take(bytes),
        Some((last, [])) => last.push(bytes, sink),
        Some((first, rest)) => first.push(bytes, &mut |inner: &[u8]| push(rest, inner, sink)),
    }
}

/// What a layer makes of bytes from the beginning of a unit.
enum Step {
    /// Too few: with this many it goes on.
    Needs(usize),
    Took(usize),
}

/// The beginning of a unit whose end has not come.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    needs_bytes: usize,
}

impl Pending {
    /// Hands units to `step`: out of `bytes` where they are whole in there, so that only those that are cut are copied.
    fn push(
        &mut self,
        mut bytes: &[u8],
        mut step: impl FnMut(&[u8]) -> Result<Step, String>,
    ) -> Result<(), String> {
        loop {
            if self.bytes.is_empty() {
                if bytes.is_empty() {
                    return Ok(());
                }
                match step(bytes)? {
                    Step::Took(count) => bytes = bytes.get(count..).unwrap_or_default(),
                    Step::Needs(count) => {
                        self.needs_bytes = count;
                        self.bytes.extend_from_slice(bytes);
                        return Ok(());
                    }
                }
                continue;
            }
            let missing = self.needs_bytes.saturating_sub(self.bytes.len());
            let (now, later) = bytes.split_at(missing.min(bytes.len()));
            self.bytes.extend_from_slice(now);
            bytes = later;
            if self.bytes.len() < self.needs_bytes {
                return Ok(());
            }
            match step(&self.bytes)? {
                Step::Took(count) => drop(self.bytes.drain(..count.min(self.bytes.len()))),
                Step::Needs(count) => self.needs_bytes = count.max(self.bytes.len() + 1),
            }
        }
    }

    fn finish(&self, format: &str) -> Result<(), String> {
        if self.bytes.is_empty() { Ok(()) } else { Err(format!("it ends inside a part of {format}")) }
    }

    fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

/// What compresses an empty file writes a frame of it.
const EMPTY: &str = "it is empty: what was to be decompressed did not come";

#[derive(Default)]
struct Lz4 {
    pending: Pending,
    decoder: lz4::Decoder,
    has_begun: bool,
}

/// Of a block that may be the largest there is.
const LZ4_HELD_BYTES: usize = 4 << 20;

impl Layer for Lz4 {
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String> {
        self.has_begun |= !bytes.is_empty();
        let decoder = &mut self.decoder;
        self.pending.push(bytes, |bytes| match decoder.step(bytes) {
            Err(error) => Err(error.to_string()),
            Ok(lz4::Step::Needs(count)) => Ok(Step::Needs(count)),
            Ok(lz4::Step::Took(count)) => {
                next.take(decoder.output())?;
                Ok(Step::Took(count))
            }
        })
    }

    fn finish(&self) -> Result<(), String> {
        self.pending.finish("LZ4")?;
        if !self.has_begun {
            return Err(EMPTY.into());
        }
        if self.decoder.is_between_frames() { Ok(()) } else { Err("it ends inside a frame of LZ4".into()) }
    }

    fn held_bytes(&self) -> usize {
        self.pending.held_bytes() + LZ4_HELD_BYTES
    }
}

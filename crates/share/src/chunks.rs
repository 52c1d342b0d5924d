//! STREAM: chunks of one text, each with its own tag, so that none can be left out, doubled, moved or added.
//!
//! Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance": the nonce is a
//! prefix, a counter, and whether the chunk is the last one.

use zeroize::Zeroizing;

use crate::ShareError;
use crate::crypto::{self, DataKey, HASH_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES};

/// Of plain text; a reader holds two of them.
pub const CHUNK_BYTES: usize = 64 * 1024;
pub const SEALED_BYTES: usize = CHUNK_BYTES + TAG_BYTES;
const PREFIX_BYTES: usize = 7;

/// Which chunk is next, at either end.
struct Place {
    key: Zeroizing<[u8; KEY_BYTES]>,
    prefix: Zeroizing<[u8; PREFIX_BYTES]>,
    core: [u8; HASH_BYTES],
    /// `None` behind the last one.
    next: Option<u32>,
}

impl Place {
    fn new(key: &DataKey, archive: &[u8], core: [u8; HASH_BYTES]) -> Self {
        Self {
            key: key.derive(archive, "chunk key"),
            prefix: key.derive(archive, "chunk nonce"),
            core,
            next: Some(0),
        }
    }

    /// `None`: the last one was before, or there were 2^32, which are 256 TiB.
    fn take(&mut self, is_last: bool) -> Option<[u8; NONCE_BYTES]> {
        let at = self.next?;
        self.next = if is_last { None } else { at.checked_add(1) };
        let mut nonce = [0; NONCE_BYTES];
        nonce[..PREFIX_BYTES].copy_from_slice(&self.prefix[..]);
        nonce[PREFIX_BYTES..NONCE_BYTES - 1].copy_from_slice(&at.to_be_bytes());
        nonce[NONCE_BYTES - 1] = u8::from(is_last);
        Some(nonce)
    }
}

pub struct ChunkSealer(Place);

impl ChunkSealer {
    pub fn new(key: &DataKey, archive: &[u8], core: [u8; HASH_BYTES]) -> Self {
        Self(Place::new(key, archive, core))
    }

    /// Exactly [`CHUNK_BYTES`], and fewer only in the last one, which may be empty.
    pub fn seal(&mut self, plain: &[u8], is_last: bool) -> Result<Vec<u8>, ShareError> {
        let is_right = plain.len() == CHUNK_BYTES || (is_last && plain.len() < CHUNK_BYTES);
        let nonce = self.0.take(is_last).filter(|_| is_right);
        let nonce = nonce.ok_or_else(|| {
            ShareError::usage(
                "the archive becomes too large",
                "an archive holds at most 2^32 chunks of 64 KiB",
                "share the table in parts: --where",
            )
        })?;
        crypto::seal(&self.0.key, &nonce, &self.0.core, plain)
    }
}

pub struct ChunkOpener(Place);

impl ChunkOpener {
    pub fn new(key: &DataKey, archive: &[u8], core: [u8; HASH_BYTES]) -> Self {
        Self(Place::new(key, archive, core))
    }

    /// `None`: it is not the chunk that belongs here.
    pub fn open(&mut self, sealed: &[u8], is_last: bool) -> Option<Zeroizing<Vec<u8>>> {
        if sealed.len() > SEALED_BYTES || (!is_last && sealed.len() != SEALED_BYTES) {
            return None;
        }
        let nonce = self.0.take(is_last)?;
        crypto::open(&self.0.key, &nonce, &self.0.core, sealed)
    }
}

//! STREAM: chunks of one text, each with its own tag, so that none can be left out, doubled, moved or added.
//!
//! Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance": the nonce is a
//! prefix, a counter, and whether the chunk is the last one.

use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtx;
use openssl::error::ErrorStack;
use zeroize::Zeroizing;

use crate::ShareError;
use crate::crypto::{DataKey, HASH_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES};

/// Of plain text; a reader holds two of them.
pub const CHUNK_BYTES: usize = 64 * 1024;
pub const SEALED_BYTES: usize = CHUNK_BYTES + TAG_BYTES;
const PREFIX_BYTES: usize = 7;

/// Which chunk is next, at either end.
struct Place {
    /// OpenSSL's ChaCha20-Poly1305, with the key of the chunks: one context for all of them.
    context: CipherCtx,
    prefix: Zeroizing<[u8; PREFIX_BYTES]>,
    core: [u8; HASH_BYTES],
    /// `None` behind the last one.
    next: Option<u32>,
}

impl Place {
    fn new(
        key: &DataKey,
        archive: &[u8],
        core: [u8; HASH_BYTES],
        begin: impl FnOnce(&mut CipherCtx, &[u8]) -> Result<(), ErrorStack>,
    ) -> Result<Self, ShareError> {
        let chunk_key = key.derive::<KEY_BYTES>(archive, "chunk key");
        let made = CipherCtx::new().and_then(|mut context| {
            begin(&mut context, &chunk_key[..])?;
            Ok(context)
        });
        let context =
            made.map_err(|error| ShareError::internal("OpenSSL has no ChaCha20-Poly1305", error))?;
        Ok(Self { context, prefix: key.derive(archive, "chunk nonce"), core, next: Some(0) })
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
    pub fn new(key: &DataKey, archive: &[u8], core: [u8; HASH_BYTES]) -> Result<Self, ShareError> {
        let begin = |context: &mut CipherCtx, key: &[u8]| {
            context.encrypt_init(Some(Cipher::chacha20_poly1305()), Some(key), None)
        };
        Place::new(key, archive, core, begin).map(Self)
    }

    /// Encrypts `chunk` where it is, and puts its tag behind it. Exactly [`CHUNK_BYTES`], and fewer only in the last one, which may be empty.
    pub fn seal(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> Result<(), ShareError> {
        let is_right = chunk.len() == CHUNK_BYTES || (is_last && chunk.len() < CHUNK_BYTES);
        let nonce = self.0.take(is_last).filter(|_| is_right);
        let nonce = nonce.ok_or_else(|| {
            ShareError::usage(
                "the archive becomes too large",
                "an archive holds at most 2^32 chunks of 64 KiB",
                "share the table in parts: --where",
            )
        })?;
        let Place { context, core, .. } = &mut self.0;
        let mut seal = || {
            context.encrypt_init(None, None, Some(&nonce))?;
            context.cipher_update(core, None)?;
            let length = chunk.len();
            if length > 0 {
                context.cipher_update_inplace(chunk, length)?;
            }
            context.cipher_final(&mut [])?;
            let mut tag = [0; TAG_BYTES];
            context.tag(&mut tag)?;
            chunk.extend_from_slice(&tag);
            Ok(())
        };
        seal().map_err(|error: ErrorStack| ShareError::internal("cannot encrypt", error))
    }
}

pub struct ChunkOpener(Place);

impl ChunkOpener {
    pub fn new(key: &DataKey, archive: &[u8], core: [u8; HASH_BYTES]) -> Result<Self, ShareError> {
        let begin = |context: &mut CipherCtx, key: &[u8]| {
            context.decrypt_init(Some(Cipher::chacha20_poly1305()), Some(key), None)
        };
        Place::new(key, archive, core, begin).map(Self)
    }

    /// Decrypts `chunk` where it is; it is empty where it is not the one that belongs here, which is the answer.
    pub fn open(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> bool {
        let is_open = self.opened(chunk, is_last).is_some();
        if !is_open {
            chunk.clear();
        }
        is_open
    }

    fn opened(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> Option<()> {
        if chunk.len() > SEALED_BYTES || (!is_last && chunk.len() != SEALED_BYTES) {
            return None;
        }
        let length = chunk.len().checked_sub(TAG_BYTES)?;
        let nonce = self.0.take(is_last)?;
        let Place { context, core, .. } = &mut self.0;
        context.decrypt_init(None, None, Some(&nonce)).ok()?;
        context.set_tag(chunk.get(length..)?).ok()?;
        chunk.truncate(length);
        context.cipher_update(core, None).ok()?;
        if length > 0 {
            context.cipher_update_inplace(chunk, length).ok()?;
        }
        context.cipher_final(&mut []).ok()?;
        Some(())
    }
}

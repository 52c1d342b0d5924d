//! STREAM: chunks of one text, each with its own tag, so that none can be left out, doubled, moved or added.
//!
//! Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance": the nonce is a
//! prefix, a counter, and whether the chunk is the last one.

use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::CipherCtx;
use openssl::error::ErrorStack;
use zeroize::Zeroizing;

use super::head::Aead;

pub const TAG_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
const PREFIX_BYTES: usize = 7;
/// Of plain text, where the writer decides.
pub const CHUNK_BYTES: usize = 1 << 20;

impl Aead {
    pub(super) fn cipher(self) -> &'static CipherRef {
        match self {
            Self::Aes256Gcm => Cipher::aes_256_gcm(),
            Self::Chacha20Poly1305 => Cipher::chacha20_poly1305(),
        }
    }
}

/// The keys of one archive's chunks, and which chunk is next.
pub struct Chunks {
    context: CipherCtx,
    prefix: Zeroizing<[u8; PREFIX_BYTES]>,
    /// `None` behind the last one.
    next: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// Changed, moved, of another archive, or not the last one and taken for it.
    #[error("a chunk is not what was written there")]
    Tag,
    /// Behind the last one, or behind 2^32 of them.
    #[error("a chunk is where none can be")]
    Count,
    #[error(transparent)]
    Crypto(#[from] ErrorStack),
}

impl Chunks {
    pub fn to_seal(aead: Aead, key: &[u8; 32], prefix: &[u8; PREFIX_BYTES]) -> Result<Self, ErrorStack> {
        let mut context = CipherCtx::new()?;
        context.encrypt_init(Some(aead.cipher()), Some(key), None)?;
        Ok(Self { context, prefix: Zeroizing::new(*prefix), next: Some(0) })
    }

    pub fn to_open(aead: Aead, key: &[u8; 32], prefix: &[u8; PREFIX_BYTES]) -> Result<Self, ErrorStack> {
        let mut context = CipherCtx::new()?;
        context.decrypt_init(Some(aead.cipher()), Some(key), None)?;
        Ok(Self { context, prefix: Zeroizing::new(*prefix), next: Some(0) })
    }

    fn nonce(&self, at: u32, is_last: bool) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        let parts = [&self.prefix[..], &at.to_be_bytes(), &[u8::from(is_last)]];
        for (to, from) in nonce.iter_mut().zip(parts.into_iter().flatten()) {
            *to = *from;
        }
        nonce
    }

    /// Encrypts `chunk` where it is and puts its tag behind it.
    pub fn seal(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> Result<(), ChunkError> {
        let at = self.next.ok_or(ChunkError::Count)?;
        let nonce = self.nonce(at, is_last);
        self.context.encrypt_init(None, None, Some(&nonce))?;
        let length = chunk.len();
        if length > 0 {
            self.context.cipher_update_inplace(chunk, length)?;
        }
        self.context.cipher_final(&mut [])?;
        let mut tag = [0; TAG_BYTES];
        self.context.tag(&mut tag)?;
        chunk.extend_from_slice(&tag);
        self.next = if is_last { None } else { at.checked_add(1) };
        Ok(())
    }

    /// Decrypts `chunk` into `plain`, which is empty unless its tag is right.
    pub fn open(&mut self, chunk: &[u8], is_last: bool, plain: &mut Vec<u8>) -> Result<(), ChunkError> {
        plain.clear();
        let at = self.next.ok_or(ChunkError::Count)?;
        let (sealed, tag) = chunk.split_last_chunk::<TAG_BYTES>().ok_or(ChunkError::Tag)?;
        let nonce = self.nonce(at, is_last);
        self.context.decrypt_init(None, None, Some(&nonce))?;
        self.context.set_tag(tag)?;
        plain.extend_from_slice(sealed);
        let length = plain.len();
        if length > 0 {
            self.context.cipher_update_inplace(plain, length)?;
        }
        if self.context.cipher_final(&mut []).is_err() {
            plain.clear();
            return Err(ChunkError::Tag);
        }
        self.next = if is_last { None } else { at.checked_add(1) };
        Ok(())
    }
}

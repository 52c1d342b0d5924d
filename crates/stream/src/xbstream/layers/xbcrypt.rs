//! `.xbcrypt`

use formats::xbcrypt::{Parsed, check_encrypted, parse, plain};
use openssl::symm::{Crypter, Mode};
use secrecy::ExposeSecret;

use super::{Layer, Next, Pending, Step};
use crate::xbstream::Decryption;

/// What OpenSSL wants behind what it writes, for ciphers that pad; counter mode does not.
const BLOCK_BYTES: usize = 16;

pub struct Xbcrypt {
    decryption: Decryption,
    pending: Pending,
    decrypted: Vec<u8>,
}

impl Xbcrypt {
    pub fn new(decryption: Decryption) -> Self {
        Self { decryption, pending: Pending::default(), decrypted: Vec::new() }
    }
}

impl Layer for Xbcrypt {
    fn push(&mut self, bytes: &[u8], next: Next<'_>) -> Result<(), String> {
        let Self { decryption, pending, decrypted } = self;
        pending.push(bytes, |bytes| {
            let (head, begin) = match parse(bytes).map_err(|error| error.to_string())? {
                Parsed::Needs(count) => return Ok(Step::Needs(count)),
                Parsed::Head { head, bytes } => (head, bytes),
            };
            let end = begin + head.body_bytes;
            let Some(body) = bytes.get(begin..end) else { return Ok(Step::Needs(end)) };
            check_encrypted(&head, body).map_err(|error| error.to_string())?;
            let wanted = body.len() + BLOCK_BYTES;
            let room = next.room(wanted);
            let is_room = room.len() >= wanted;
            if !is_room && decrypted.len() < wanted {
                decrypted.resize(wanted, 0);
            }
            let into = if is_room { room } else { decrypted.as_mut_slice() };
            let key = decryption.key.expose_secret();
            let count = Crypter::new(decryption.algorithm.cipher(), Mode::Decrypt, key, Some(&head.iv))
                .and_then(|mut crypter| crypter.update(body, into))
                .map_err(|error| format!("OpenSSL cannot decrypt it: {error}"))?;
            let whole = into.get(..count).unwrap_or_default();
            // A hash lies behind it.
            let length = plain(&head, whole).map_err(|error| error.to_string())?.len();
            if is_room {
                next.made(length)?;
            } else {
                next.take(decrypted.get(..length).unwrap_or_default())?;
            }
            Ok(Step::Took(end))
        })
    }

    fn finish(&self) -> Result<(), String> {
        self.pending.finish("xbcrypt")
    }

    fn held_bytes(&self) -> usize {
        self.pending.held_bytes() + self.decrypted.capacity()
    }
}

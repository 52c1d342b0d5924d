//! Who can open an archive: the data key, sealed for each of them, and what follows from it.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::str::FromStr;

use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtx;
use secrecy::{ExposeSecret, SecretBox};
use zeroize::Zeroizing;

use super::head::{Aead, Head, ID_BYTES, MAC_BYTES, Slot};
use super::{chunks, no_crypto};
use crate::StreamError;
use crate::kdf::{hkdf, hmac};

const KEY_BYTES: usize = 32;
/// No key file is longer, and none of identities, either.
const FILE_BYTES_MAX: usize = 64 << 10;
const HEX_BYTES: usize = 2 * KEY_BYTES;

/// 32 bytes that a file has as 64 hexadecimal digits.
pub struct KeyFile(SecretBox<[u8; KEY_BYTES]>);

/// A text of secrets, which only its owner may read.
fn read_private(path: &Path) -> Result<Zeroizing<String>, StreamError> {
    let refuse = |why: String, next: &str| StreamError::Setup {
        what: format!("cannot use the key file {}", path.display()),
        why,
        next: next.into(),
    };
    let file = std::fs::File::open(path).map_err(|error| refuse(error.to_string(), "check the path"))?;
    let about = file.metadata().map_err(|error| refuse(error.to_string(), "check the path"))?;
    let mode = about.permissions().mode() & 0o777;
    if about.is_file() && mode & 0o077 != 0 {
        let next = "chmod 600 it, and use another key if others were on this machine";
        return Err(refuse(format!("others may read it (mode {mode:o})"), next));
    }
    let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES_MAX));
    file.take(FILE_BYTES_MAX as u64)
        .read_to_string(&mut text)
        .map_err(|error| refuse(error.to_string(), "check what is in it"))?;
    Ok(text)
}

impl KeyFile {
    /// # Errors
    /// Others may read it, or no key is in it.
    pub fn read(path: &Path) -> Result<Self, StreamError> {
        let text = read_private(path)?;
        Self::parse(text.trim_end()).ok_or_else(|| StreamError::Setup {
            what: format!("cannot use the key file {}", path.display()),
            why: format!("a key has {HEX_BYTES} hexadecimal digits, and this is something else"),
            next: "make one: (umask 077; openssl rand -hex 32 > FILE)".into(),
        })
    }

    fn parse(text: &str) -> Option<Self> {
        if text.len() != HEX_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        for (to, pair) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
            *to = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(SecretBox::new(Box::new(*key))))
    }

    /// A key for one archive: its nonce is nobody else's, whatever it is.
    fn of_archive(&self, id: &[u8]) -> Result<Zeroizing<[u8; KEY_BYTES]>, StreamError> {
        hkdf(id, self.0.expose_secret(), b"sealion archive 1 key file").map_err(|error| no_crypto(&error))
    }
}

/// Whom a new archive is for.
#[derive(Default)]
pub struct Seal {
    recipients: Vec<age::x25519::Recipient>,
    key_file: Option<KeyFile>,
}

impl Seal {
    /// # Errors
    /// A recipient is none, or there is neither one nor a key file.
    pub fn new(recipients: &[String], key_file: Option<KeyFile>) -> Result<Self, StreamError> {
        let recipients = recipients.iter().map(|one| {
            age::x25519::Recipient::from_str(one.trim()).map_err(|why| StreamError::Setup {
                what: format!("\"{}\" is no recipient of age", one.escape_default()),
                why: why.to_owned(),
                next: "name what age-keygen prints as public key: age1…".into(),
            })
        });
        let recipients: Vec<_> = recipients.collect::<Result<_, _>>()?;
        if recipients.is_empty() && key_file.is_none() {
            return Err(StreamError::Setup {
                what: "an archive is always encrypted".into(),
                why: "neither a recipient nor a key file is named".into(),
                next: "--recipient age1…, or --key-file FILE".into(),
            });
        }
        Ok(Self { recipients, key_file })
    }

    /// The slots of an archive, each with its data key.
    pub(super) fn slots(
        &self,
        id: &[u8; ID_BYTES],
        data_key: &[u8; KEY_BYTES],
    ) -> Result<Vec<Slot>, StreamError> {
        let mut slots = Vec::new();
        if !self.recipients.is_empty() {
            let said = |why: String| StreamError::Setup {
                what: "the key cannot be sealed to the recipients".into(),
                why,
                next: "check them".into(),
            };
            let all = self.recipients.iter().map(|one| one as &dyn age::Recipient);
            let encryptor = age::Encryptor::with_recipients(all).map_err(|error| said(error.to_string()))?;
            let mut sealed = Vec::new();
            let written = encryptor.wrap_output(&mut sealed).and_then(|mut writer| {
                writer.write_all(data_key)?;
                writer.finish()
            });
            written.map_err(|error| said(error.to_string()))?;
            slots.push(Slot::Age(sealed));
        }
        if let Some(key_file) = &self.key_file {
            let key = key_file.of_archive(id)?;
            let sealed = wrap(&key, data_key).map_err(|error| no_crypto(&error))?;
            slots.push(Slot::KeyFile(sealed));
        }
        Ok(slots)
    }
}

fn wrap(key: &[u8; KEY_BYTES], data_key: &[u8; KEY_BYTES]) -> Result<Vec<u8>, openssl::error::ErrorStack> {
    let mut context = CipherCtx::new()?;
    context.encrypt_init(Some(Cipher::chacha20_poly1305()), Some(key), Some(&[0; 12]))?;
    let mut sealed = Vec::with_capacity(KEY_BYTES + chunks::TAG_BYTES);
    context.cipher_update_vec(data_key, &mut sealed)?;
    context.cipher_final_vec(&mut sealed)?;
    let mut tag = [0; chunks::TAG_BYTES];
    context.tag(&mut tag)?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

fn unwrap(key: &[u8; KEY_BYTES], sealed: &[u8]) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let (sealed, tag) = sealed.split_last_chunk::<{ chunks::TAG_BYTES }>()?;
    if sealed.len() != KEY_BYTES {
        return None;
    }
    let mut context = CipherCtx::new().ok()?;
    context.decrypt_init(Some(Cipher::chacha20_poly1305()), Some(key), Some(&[0; 12])).ok()?;
    context.set_tag(tag).ok()?;
    let mut plain = Zeroizing::new([0; KEY_BYTES]);
    context.cipher_update(sealed, Some(&mut plain[..])).ok()?;
    context.cipher_final(&mut []).ok()?;
    Some(plain)
}

/// What somebody has who opens archives.
#[derive(Default)]
pub struct Keys {
    identities: Vec<age::x25519::Identity>,
    key_file: Option<KeyFile>,
}

impl Keys {
    /// # Errors
    /// A file cannot be used, or there is none.
    pub fn new(identity_file: Option<&Path>, key_file: Option<KeyFile>) -> Result<Self, StreamError> {
        let mut identities = Vec::new();
        if let Some(path) = identity_file {
            let text = read_private(path)?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            for line in lines {
                let identity = age::x25519::Identity::from_str(line).map_err(|why| StreamError::Setup {
                    what: format!("cannot use the identity file {}", path.display()),
                    why: format!("it has a line that is no identity of age: {why}"),
                    next: "name a file that age-keygen has written".into(),
                })?;
                identities.push(identity);
            }
        }
        if identities.is_empty() && key_file.is_none() {
            return Err(StreamError::Setup {
                what: "an archive does not open without a key".into(),
                why: "neither an identity nor a key file is named".into(),
                next: "--identity FILE (of age), or --key-file FILE".into(),
            });
        }
        Ok(Self { identities, key_file })
    }

    /// The data key out of the first slot that opens.
    pub(super) fn data_key(&self, head: &Head) -> Result<Option<Zeroizing<[u8; KEY_BYTES]>>, StreamError> {
        for slot in &head.slots {
            let opened = match slot {
                Slot::Age(sealed) => self.of_age(sealed),
                Slot::KeyFile(sealed) => match &self.key_file {
                    Some(key_file) => unwrap(&*key_file.of_archive(&head.id)?, sealed),
                    None => None,
                },
                Slot::Unknown { .. } => None,
            };
            if opened.is_some() {
                return Ok(opened);
            }
        }
        Ok(None)
    }

    fn of_age(&self, sealed: &[u8]) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
        let decryptor = age::Decryptor::new(sealed).ok()?;
        let identities = self.identities.iter().map(|one| one as &dyn age::Identity);
        let mut plain = Zeroizing::new(Vec::with_capacity(KEY_BYTES + 1));
        decryptor.decrypt(identities).ok()?.take(KEY_BYTES as u64 + 1).read_to_end(&mut plain).ok()?;
        let key: &[u8; KEY_BYTES] = plain.as_slice().try_into().ok()?;
        Some(Zeroizing::new(*key))
    }
}

/// What follows from the data key of an archive.
pub(super) struct Derived {
    mac: Zeroizing<[u8; KEY_BYTES]>,
    key: Zeroizing<[u8; KEY_BYTES]>,
    nonce: Zeroizing<[u8; KEY_BYTES]>,
}

impl Derived {
    pub fn of(id: &[u8; ID_BYTES], data_key: &[u8; KEY_BYTES]) -> Result<Self, StreamError> {
        let derive = |info: &[u8]| hkdf(id, data_key, info).map_err(|error| no_crypto(&error));
        Ok(Self {
            mac: derive(b"sealion archive 1 head")?,
            key: derive(b"sealion archive 1 chunks")?,
            nonce: derive(b"sealion archive 1 nonce")?,
        })
    }

    /// Over the head.
    pub fn mac(&self, head: &[u8]) -> Result<[u8; MAC_BYTES], StreamError> {
        hmac(&self.mac[..], &[head]).map(|sum| *sum).map_err(|error| no_crypto(&error))
    }

    fn prefix(&self) -> [u8; 7] {
        self.nonce.first_chunk().copied().unwrap_or_default()
    }

    pub fn sealer(&self, aead: Aead) -> Result<chunks::Chunks, StreamError> {
        chunks::Chunks::to_seal(aead, &self.key, &self.prefix()).map_err(|error| no_crypto(&error))
    }

    pub fn opener(&self, aead: Aead) -> Result<chunks::Chunks, StreamError> {
        chunks::Chunks::to_open(aead, &self.key, &self.prefix()).map_err(|error| no_crypto(&error))
    }
}

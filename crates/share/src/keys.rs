//! Key pairs of owners and readers, in directories of their own; and their public part, which is given away.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::b64::{self, Fixed};
use crate::crypto::{self, KEY_BYTES, SIGNATURE_BYTES, Secret};
use crate::{ShareError, files};

const SECRET_FILE: &str = "secret.json";
const PUBLIC_FILE: &str = "public.json";
/// Of either file; ours are some 200.
const FILE_BYTES_MAX: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Owner,
    Reader,
}

impl Role {
    fn shown(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Reader => "reader",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Owner => "sealion share init DIR",
            Self::Reader => "sealion share identity DIR",
        }
    }
}

/// Who somebody is: Ed25519 for what they say, X25519 for what is said to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicIdentity {
    pub v: u8,
    pub role: Role,
    pub sign: Fixed<KEY_BYTES>,
    pub seal: Fixed<KEY_BYTES>,
}

impl PublicIdentity {
    pub fn read(path: &Path, role: Role) -> Result<Self, ShareError> {
        let bytes = files::read_small(path, FILE_BYTES_MAX)?;
        let next = format!("give the file public.json that `{}` has written", role.verb());
        let what = || format!("{} is no public key of a share {}", path.display(), role.shown());
        let public: Self =
            serde_json::from_slice(&bytes).map_err(|error| ShareError::usage(what(), error, next.clone()))?;
        if public.v != 1 || public.role != role {
            let why = format!("it is version {} of a {}", public.v, public.role.shown());
            return Err(ShareError::usage(what(), why, next));
        }
        Ok(public)
    }

    pub fn has_signed(&self, text: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        crypto::is_signed(&self.sign.0, text, signature)
    }

    /// For people to compare: eight words out of a hash over role and keys.
    pub fn fingerprint(&self) -> String {
        let hash = crypto::sha256(&[
            b"sealion share identity v1\0",
            self.role.shown().as_bytes(),
            &self.sign.0,
            &self.seal.0,
        ]);
        words_of(&hash)
    }
}

/// As many as keep somebody from making keys with the same: 88 bits.
const FINGERPRINT_WORDS: usize = 8;
const WORD_BITS: usize = 11;

/// Words are compared over the telephone sooner than digits.
fn words_of(hash: &[u8; crypto::HASH_BYTES]) -> String {
    let list = bip39::Language::English.word_list();
    let word = |at: usize| {
        let bit = at * WORD_BITS;
        // The eleven bits lie within three bytes.
        let three =
            hash.iter().skip(bit / 8).take(3).fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        list.get(three >> (24 - WORD_BITS - bit % 8) & ((1 << WORD_BITS) - 1)).copied().unwrap_or_default()
    };
    (0..FINGERPRINT_WORDS).map(word).collect::<Vec<_>>().join("-")
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretFile {
    v: u8,
    role: Role,
    sign: Zeroizing<String>,
    seal: Zeroizing<String>,
    public: PublicIdentity,
}

/// One's own.
pub struct Identity {
    sign: Secret,
    pub(crate) seal: Secret,
    pub public: PublicIdentity,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.public.fingerprint())
    }
}

fn hex(secret: &Secret) -> Zeroizing<String> {
    Zeroizing::new(b64::hex(&secret[..]))
}

impl Identity {
    pub fn new(role: Role) -> Result<Self, ShareError> {
        let (sign, sign_public) = crypto::signing_pair()?;
        let (seal, seal_public) = crypto::sealing_pair();
        let public = PublicIdentity { v: 1, role, sign: Fixed(sign_public), seal: Fixed(seal_public) };
        Ok(Self { sign, seal, public })
    }

    /// Makes the directory (0700) and both files; the secret one 0600.
    pub fn make(dir: &Path, role: Role) -> Result<Self, ShareError> {
        let identity = Self::new(role)?;
        files::make_private_dir(dir)?;
        let secret = SecretFile {
            v: 1,
            role,
            sign: hex(&identity.sign),
            seal: hex(&identity.seal),
            public: identity.public.clone(),
        };
        let json = |error| ShareError::internal("cannot write keys", error);
        let text = Zeroizing::new(serde_json::to_vec_pretty(&secret).map_err(json)?);
        files::write_new(&dir.join(SECRET_FILE), &text, files::PRIVATE)?;
        identity.publish(dir)?;
        Ok(identity)
    }

    /// Those of `dir`, made if there are none; and their public part, if that is not there (any more).
    pub fn read_or_make(dir: &Path, role: Role) -> Result<Self, ShareError> {
        if dir.join(SECRET_FILE).symlink_metadata().is_err() {
            return Self::make(dir, role);
        }
        let identity = Self::read(dir, role)?;
        if dir.join(PUBLIC_FILE).symlink_metadata().is_err() {
            identity.publish(dir)?;
        }
        Ok(identity)
    }

    /// Whether making keys was ended in its middle there.
    pub fn is_half(dir: &Path) -> bool {
        let is_there = |name: &str| dir.join(name).symlink_metadata().is_ok();
        is_there(SECRET_FILE) && !is_there(PUBLIC_FILE)
    }

    fn publish(&self, dir: &Path) -> Result<(), ShareError> {
        let public = serde_json::to_vec_pretty(&self.public)
            .map_err(|error| ShareError::internal("cannot write keys", error))?;
        files::write_new(&dir.join(PUBLIC_FILE), &public, files::PUBLIC)
    }

    pub fn read(dir: &Path, role: Role) -> Result<Self, ShareError> {
        let path = dir.join(SECRET_FILE);
        files::is_private(&path)?;
        let bytes = Zeroizing::new(files::read_small(&path, FILE_BYTES_MAX)?);
        let wrong = |why: &str| {
            ShareError::usage(
                format!("{} holds no keys of a share {}", path.display(), role.shown()),
                why,
                format!("give the directory that `{}` has made", role.verb()),
            )
        };
        let file: SecretFile =
            serde_json::from_slice(&bytes).map_err(|_| wrong("it is not as sealion writes it"))?;
        if file.v != 1 || file.role != role {
            return Err(wrong(&format!("these are version {}, of a {}", file.v, file.role.shown())));
        }
        let key = |text: &str| Fixed::<KEY_BYTES>::from_hex(text).map(|key| Zeroizing::new(key.0));
        let (Some(sign), Some(seal)) = (key(&file.sign), key(&file.seal)) else {
            return Err(wrong("a key is not 32 bytes"));
        };
        Ok(Self { sign, seal, public: file.public })
    }

    /// A secret for something else that these keys are the root of.
    pub fn derive(&self, purpose: &str) -> Secret {
        let both = Zeroizing::new([&self.sign[..], &self.seal[..]].concat());
        crypto::derive(b"sealion share derived v1", &both, purpose)
    }

    /// Under `text`, which begins with what it is, and a zero byte.
    pub fn sign(&self, text: &[u8]) -> Result<[u8; SIGNATURE_BYTES], ShareError> {
        crypto::sign(&self.sign, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_eight_words_of_a_hash() {
        assert_eq!(words_of(&[0; 32]), ["abandon"; 8].join("-"));
        assert_eq!(words_of(&[0xff; 32]), ["zoo"; 8].join("-"));
        let mut hash = [0; 32];
        // Of the second word the last bit, of the eighth the first.
        (hash[2], hash[9]) = (0b0000_0100, 0b0000_0100);
        let words = words_of(&hash);
        let words: Vec<&str> = words.split('-').collect();
        assert_eq!((words[1], words[7]), ("ability", "length"));
        assert_eq!(words.iter().filter(|word| **word == "abandon").count(), 6);
    }
}

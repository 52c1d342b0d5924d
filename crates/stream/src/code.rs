//! A one-time code: 160 random bits that both ends know, from which each derives its own key and the other's.
//!
//! So many bits cannot be guessed, neither by asking nor from what was recorded; the code itself never travels. Each end makes a
//! self-signed certificate with its key and takes only the other key from its peer: TLS 1.3 does the rest.
//!
//! # Source
//! RFC 5869 (HKDF) with SHA-256: the code is the input keying material, the role the info, no salt. RFC 8032: 32 bytes are an Ed25519 key.
//! The alphabet is Crockford's base 32, without letters that look like digits.

use openssl::error::ErrorStack;
use openssl::pkey::{Id, PKey, Private};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::kdf::hkdf;

const CODE_BYTES: usize = 20;
const LETTERS: usize = CODE_BYTES * 8 / 5;
const GROUP: usize = 4;
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Which end a key is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Sender,
    Receiver,
}

impl Role {
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    fn info(self) -> &'static [u8] {
        match self {
            Self::Sender => b"sealion stream 1 sender",
            Self::Receiver => b"sealion stream 1 receiver",
        }
    }
}

/// See the module.
pub struct Code(Zeroizing<[u8; CODE_BYTES]>);

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Code(…)")
    }
}

impl Code {
    /// # Errors
    /// The system has no random bytes.
    pub fn new() -> Result<Self, ErrorStack> {
        let mut bytes = Zeroizing::new([0; CODE_BYTES]);
        openssl::rand::rand_bytes(bytes.as_mut())?;
        Ok(Self(bytes))
    }

    /// Eight groups of four: `7KQ2-…`.
    pub fn text(&self) -> SecretString {
        let mut text = Zeroizing::new(String::with_capacity(LETTERS + LETTERS / GROUP));
        let (mut bits, mut count) = (0_u16, 0_u8);
        let mut written = 0;
        for byte in self.0.iter() {
            bits = (bits << 8) | u16::from(*byte);
            count += 8;
            while count >= 5 {
                count -= 5;
                if written > 0 && written % GROUP == 0 {
                    text.push('-');
                }
                let at = usize::from((bits >> count) & 31);
                text.push(char::from(ALPHABET.get(at).copied().unwrap_or(b'0')));
                written += 1;
            }
            bits &= (1 << count) - 1;
        }
        text.as_str().into()
    }

    /// Reads what [`Code::text`] wrote, in any case, with any blanks and hyphens.
    ///
    /// # Errors
    /// What is wrong with it, without what it is.
    pub fn parse(text: &SecretString) -> Result<Self, String> {
        let mut bytes = Zeroizing::new([0; CODE_BYTES]);
        let (mut bits, mut count, mut letters) = (0_u16, 0_u8, 0_usize);
        let mut into = bytes.iter_mut();
        for (at, letter) in text.expose_secret().chars().enumerate() {
            let value = match letter.to_ascii_uppercase() {
                '-' => continue,
                blank if blank.is_whitespace() => continue,
                'O' => 0,
                'I' | 'L' => 1,
                other => ALPHABET
                    .iter()
                    .position(|known| char::from(*known) == other)
                    .ok_or_else(|| format!("character {} of the code is none of a code", at + 1))?,
            };
            letters += 1;
            // The alphabet has 32 letters.
            bits = (bits << 5) | u16::try_from(value).unwrap_or(0);
            count += 5;
            if count >= 8 {
                count -= 8;
                if let Some(byte) = into.next() {
                    *byte = u8::try_from((bits >> count) & 0xff).unwrap_or(0);
                }
                bits &= (1 << count) - 1;
            }
        }
        if letters != LETTERS {
            return Err(format!("a code has {LETTERS} letters and digits, this has {letters}"));
        }
        Ok(Self(bytes))
    }

    /// The key of one end.
    pub(crate) fn key(&self, role: Role) -> Result<PKey<Private>, ErrorStack> {
        let seed = hkdf(&[], self.0.as_ref(), role.info())?;
        PKey::private_key_from_raw_bytes(&seed[..], Id::ED25519)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_code_is_read_as_it_was_written_and_as_people_write_it() {
        let code = Code::new().unwrap();
        let text = code.text().expose_secret().to_owned();
        assert_eq!((text.len(), text.matches('-').count()), (39, 7), "{text}");
        for written in [
            text.clone(),
            text.to_lowercase(),
            text.replace('-', " "),
            text.replace('0', "o").replace('1', "l"),
        ] {
            let read = Code::parse(&written.as_str().into()).unwrap();
            assert_eq!(*read.0, *code.0, "{written}");
        }
        for (wrong, why) in [("", "has 0"), ("abcd", "has 4"), ("u", "character 1")] {
            let said = Code::parse(&wrong.into()).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        let other = Code::new().unwrap();
        let public = |code: &Code, role| code.key(role).unwrap().raw_public_key().unwrap();
        assert_eq!(public(&code, Role::Sender), public(&code, Role::Sender));
        assert_ne!(public(&code, Role::Sender), public(&code, Role::Receiver));
        assert_ne!(public(&code, Role::Sender), public(&other, Role::Sender));
    }

    #[test]
    fn keys_are_those_of_hkdf() {
        // Reckoned with Python: hmac.new(bytes(32), code), then hmac.new(prk, info + b"\x01").
        let code = Code(Zeroizing::new([7; CODE_BYTES]));
        let seed = code.key(Role::Sender).unwrap().raw_private_key().unwrap();
        let number = |half: &[u8]| u128::from_be_bytes(half.try_into().unwrap());
        assert_eq!(
            format!("{:032x}{:032x}", number(&seed[..16]), number(&seed[16..])),
            "03a581f9de63083be5fa1e49ffab27313c7590ddc59215f59d62af8502a0648c"
        );
    }
}

//! Bytes in JSON, as base64 with the standard alphabet.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Made at once, so that none of a secret is left behind by growing.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or_default());
        }
    }
    text
}

/// So many bytes, no more and no less.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fixed<const N: usize>(pub [u8; N]);

impl<const N: usize> Fixed<N> {
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != N * 2 {
            return None;
        }
        let mut out = [0; N];
        for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
            let &[high, low] = pair else { return None };
            let digit = |one: u8| char::from(one).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *byte = (digit(high)? << 4) | digit(low)?;
        }
        Some(Self(out))
    }
}

impl<const N: usize> std::fmt::Debug for Fixed<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

impl<const N: usize> Serialize for Fixed<N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Fixed<N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Blob(bytes) = Blob::deserialize(from)?;
        let bytes = <[u8; N]>::try_from(bytes);
        bytes.map(Self).map_err(|_| serde::de::Error::custom(format!("{N} bytes are expected")))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map(Self).map_err(|_| serde::de::Error::custom("this is not base64"))
    }
}

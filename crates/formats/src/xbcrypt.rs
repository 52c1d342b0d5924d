//! Chunks of a file that XtraBackup has encrypted (`.xbcrypt`). All numbers are little-endian.
//!
//! ```text
//! magic "XBCRYP01" to "XBCRYP03" | reserved u64 | plain bytes u64 | encrypted bytes u64 |
//! CRC-32 of the encrypted bytes u32
//! versions 2 and 3: length of the IV u64 (16) | IV
//! encrypted bytes
//! ```
//! AES in counter mode, the IV of version 3 being the first counter; in versions 1 and 2 it is 0 (the tool does not
//! use the IV that version 2 has). Version 3 encrypts the SHA-256 of the plaintext behind it, which the first length
//! may count or not. The key's length decides which AES it is, and nothing tells whether the key is right but that
//! hash: of versions 1 and 2 nobody can say. Nothing holds the chunks together, either: one that was left out is not
//! missed.
//!
//! Source: `xbcrypt.h`, `xbcrypt_read.cc` and `xbcrypt_write.cc` of XtraBackup 8.0 as described in their
//! documentation. No such tool was at hand: nothing here was tried on a file that it wrote.

use crate::bytes::{array, le32, le64};

const MAGIC: &[u8; 7] = b"XBCRYP0";
const FIXED_BYTES: usize = 8 + 8 + 8 + 8 + 4;
pub const IV_BYTES: usize = 16;
pub const HASH_BYTES: usize = 32;
/// The tool's own is 64 KiB; it can be set, and nobody gains by more than this.
pub const CHUNK_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
    /// With an IV that counts, and a hash.
    Three,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub version: Version,
    /// As many as are encrypted: counter mode adds none.
    pub body_bytes: usize,
    pub crc32: u32,
    pub iv: [u8; IV_BYTES],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Too few bytes: with this many, from the beginning of the chunk, more can be said.
    Needs(usize),
    Head {
        head: Head,
        /// Of the header.
        bytes: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    #[error("no encrypted chunk begins there (it would begin with XBCRYP01, 02 or 03)")]
    Magic,
    #[error("an encrypted chunk has {0} bytes; none has more than {CHUNK_BYTES_MAX}")]
    Length(u64),
    #[error(
        "an encrypted chunk says that {plain} bytes became {encrypted}; in counter mode they are as many"
    )]
    Lengths { plain: u64, encrypted: u64 },
    #[error("an IV has {0} bytes; AES has {IV_BYTES}")]
    Iv(u64),
    #[error("an encrypted chunk is too short for its hash")]
    NoHash,
    #[error(
        "the CRC-32 of an encrypted chunk is 0x{found:08x}, and should be 0x{wanted:08x}: it was changed or lost"
    )]
    Crc { found: u32, wanted: u32 },
    #[error(
        "a decrypted chunk does not have the hash that was encrypted with it: the key or the algorithm is another"
    )]
    Hash,
}

/// The header at the beginning of `bytes`.
///
/// # Errors
/// It is none, or is beyond a limit.
pub fn parse(bytes: &[u8]) -> Result<Parsed, ChunkError> {
    let seen = bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default();
    if !MAGIC.starts_with(seen) {
        return Err(ChunkError::Magic);
    }
    let version = match bytes.get(MAGIC.len()) {
        Some(b'1') => Version::One,
        Some(b'2') => Version::Two,
        Some(b'3') => Version::Three,
        Some(_) => return Err(ChunkError::Magic),
        None => return Ok(Parsed::Needs(FIXED_BYTES)),
    };
    let (Some(plain), Some(encrypted), Some(crc32)) = (le64(bytes, 16), le64(bytes, 24), le32(bytes, 32))
    else {
        return Ok(Parsed::Needs(FIXED_BYTES));
    };
    if encrypted > CHUNK_BYTES_MAX {
        return Err(ChunkError::Length(encrypted));
    }
    let hash_bytes = if version == Version::Three { HASH_BYTES as u64 } else { 0 };
    let Some(without_hash) = encrypted.checked_sub(hash_bytes) else { return Err(ChunkError::NoHash) };
    if plain != encrypted && plain != without_hash {
        return Err(ChunkError::Lengths { plain, encrypted });
    }
    let body_bytes = usize::try_from(encrypted).unwrap_or(usize::MAX);
    if version == Version::One {
        let head = Head { version, body_bytes, crc32, iv: [0; IV_BYTES] };
        return Ok(Parsed::Head { head, bytes: FIXED_BYTES });
    }
    let at = FIXED_BYTES + 8;
    let Some(iv_bytes) = le64(bytes, FIXED_BYTES) else { return Ok(Parsed::Needs(at + IV_BYTES)) };
    if iv_bytes != IV_BYTES as u64 {
        return Err(ChunkError::Iv(iv_bytes));
    }
    let Some(mut iv) = array(bytes, at) else { return Ok(Parsed::Needs(at + IV_BYTES)) };
    if version == Version::Two {
        iv = [0; IV_BYTES];
    }
    Ok(Parsed::Head { head: Head { version, body_bytes, crc32, iv }, bytes: at + IV_BYTES })
}

/// The header of a chunk of version 3, for bytes that are encrypted: the text and its hash.
pub fn write_head(out: &mut Vec<u8>, iv: &[u8; IV_BYTES], encrypted: &[u8]) {
    let length = (encrypted.len() as u64).to_le_bytes();
    out.extend_from_slice(b"XBCRYP03");
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&length);
    out.extend_from_slice(&length);
    out.extend_from_slice(&crc32fast::hash(encrypted).to_le_bytes());
    out.extend_from_slice(&(IV_BYTES as u64).to_le_bytes());
    out.extend_from_slice(iv);
}

/// Before it is decrypted.
///
/// # Errors
/// The bytes are not those that were written.
pub fn check_encrypted(head: &Head, body: &[u8]) -> Result<(), ChunkError> {
    let found = crc32fast::hash(body);
    if found == head.crc32 { Ok(()) } else { Err(ChunkError::Crc { found, wanted: head.crc32 }) }
}

/// What was decrypted, without its hash, which is checked.
///
/// # Errors
/// It is not what was encrypted.
pub fn plain<'b>(head: &Head, decrypted: &'b [u8]) -> Result<&'b [u8], ChunkError> {
    if head.version != Version::Three {
        return Ok(decrypted);
    }
    let (plain, hash) = decrypted.split_last_chunk::<HASH_BYTES>().ok_or(ChunkError::NoHash)?;
    if openssl::sha::sha256(plain) == *hash { Ok(plain) } else { Err(ChunkError::Hash) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn chunk(version: u8, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u64).to_le_bytes();
        let crc32 = crc32fast::hash(body).to_le_bytes();
        let mut out = [MAGIC, &[version][..], &[0; 8], &length, &length, &crc32].concat();
        if version != b'1' {
            out.extend(16_u64.to_le_bytes());
            out.extend([7; 16]);
        }
        out.extend(body);
        out
    }

    #[test]
    fn what_is_beyond_a_limit_is_refused() {
        let bytes = chunk(b'3', &[1; 40]);
        let with = |at: usize, new: &[u8]| {
            let mut changed = bytes.clone();
            changed[at..at + new.len()].copy_from_slice(new);
            parse(&changed)
        };
        assert_eq!(with(7, b"4"), Err(ChunkError::Magic));
        assert_eq!(with(24, &[0xff; 8]), Err(ChunkError::Length(u64::MAX)));
        assert_eq!(with(16, &[0]), Err(ChunkError::Lengths { plain: 0, encrypted: 40 }));
        assert_eq!(with(36, &[17]), Err(ChunkError::Iv(17)));
        assert_eq!(parse(&chunk(b'3', &[1; 31])), Err(ChunkError::NoHash));
    }

    proptest! {
        #[test]
        fn each_version_is_read_and_no_part_of_a_header_is_taken_for_it(
            version in b'1'..=b'3', body in proptest::collection::vec(any::<u8>(), 32..99), flip: usize,
        ) {
            let bytes = chunk(version, &body);
            let Parsed::Head { head, bytes: used } = parse(&bytes).unwrap() else { panic!("cut") };
            for end in 0..used {
                let Parsed::Needs(more) = parse(&bytes[..end]).unwrap() else { panic!("{end}") };
                prop_assert!(more > end && more <= used);
            }
            prop_assert_eq!(head.body_bytes, body.len());
            prop_assert_eq!(check_encrypted(&head, &bytes[used..]), Ok(()));
            let mut other = body.clone();
            let at = flip % other.len();
            other[at] ^= 4;
            prop_assert!(check_encrypted(&head, &other).is_err());
            let hashed = [&body[..], &openssl::sha::sha256(&body)].concat();
            let found = plain(&head, &hashed).unwrap();
            prop_assert_eq!(found.len(), if version == b'3' { body.len() } else { hashed.len() });
            other.extend(openssl::sha::sha256(&body));
            prop_assert_eq!(plain(&head, &other).is_err(), version == b'3');
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), version in b'0'..=b'4') {
            let _ = parse(&bytes);
            let _ = parse(&[MAGIC, &[version][..], &bytes].concat());
        }
    }
}

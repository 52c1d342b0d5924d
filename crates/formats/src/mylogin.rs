//! `.mylogin.cnf`: the login file of `mysql_config_editor`, an option file behind a veil.
//!
//! The veil is no protection: the AES key stands in the file. Whoever reads the file has the passwords, so what comes out
//! of here is wiped when dropped. Layout: 4 unused bytes, 20 bytes that give the key, then per line of the option file a
//! 4-byte little-endian length and that many bytes of AES-128-ECB with PKCS#7 padding.
//!
//! Source: MySQL 8.0, client/mysql_config_editor.cc and mysys/my_default.cc (`MY_LOGIN_HEADER_LEN`, `LOGIN_KEY_LEN`,
//! `MAX_CIPHER_STORE_LEN`), mysys_ssl/my_aes.cc (folding of the key by XOR). MariaDB does not read this file.

use openssl::symm::{Cipher, decrypt, encrypt};
use zeroize::Zeroizing;

/// Largest login file we read, in bytes; each login path needs below 1 KiB.
pub const MYLOGIN_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of key material in the file.
pub const LOGIN_KEY_BYTES: usize = 20;

/// Longest enciphered line, in bytes: the editor's 4096 bytes of text and one block of padding.
const CHUNK_BYTES_MAX: usize = 4096 + AES_BLOCK_BYTES;

const AES_BLOCK_BYTES: usize = 16;
const UNUSED_BYTES: usize = 4;
const LENGTH_BYTES: usize = 4;

/// Why a login file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MyLoginError {
    /// The file is larger than [`MYLOGIN_BYTES_MAX`].
    #[error(
        "{file} is too large for a login file\n  why:  it has {bytes} bytes; the limit is {bytes_max}\n  next: check the path"
    )]
    TooLarge {
        /// Name of the file.
        file: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The file ends within a field.
    #[error(
        "{file} ends too early\n  why:  at byte {offset} it should have {needed_bytes} more bytes, and has {left_bytes}\n  next: write it anew with mysql_config_editor"
    )]
    Truncated {
        /// Name of the file.
        file: String,
        /// Where the field starts.
        offset: usize,
        /// Bytes the field needs.
        needed_bytes: usize,
        /// Bytes that are there.
        left_bytes: usize,
    },
    /// A length that no enciphered line can have.
    #[error(
        "{file} is no login file, or is damaged\n  why:  the length at byte {offset} is {length}; it must be a multiple of 16, from 16 to {length_max}\n  next: check the path; write the file anew with mysql_config_editor"
    )]
    BadLength {
        /// Name of the file.
        file: String,
        /// Where the length stands.
        offset: usize,
        /// The length.
        length: u32,
        /// The limit.
        length_max: usize,
    },
    /// A line does not decipher.
    #[error(
        "{file} does not decipher at byte {offset}\n  why:  the padding is wrong, so the line or the key in the file is damaged\n  next: write it anew with mysql_config_editor"
    )]
    Damaged {
        /// Name of the file.
        file: String,
        /// Where the enciphered line starts.
        offset: usize,
    },
    /// A line to encipher is longer than the format allows.
    #[error(
        "line {line} is too long for a login file\n  why:  it has {bytes} bytes; mysql_config_editor reads 4096\n  next: shorten the value"
    )]
    LineTooLong {
        /// Line number, the first is 1.
        line: usize,
        /// Its length.
        bytes: usize,
    },
}

/// The option file inside a login file, to be read with [`crate::optfile::OptionFile`]. `name` is for error texts.
///
/// # Errors
/// The first place where the bytes are not those of a login file.
pub fn decode(bytes: &[u8], name: &str) -> Result<Zeroizing<Vec<u8>>, MyLoginError> {
    if bytes.len() > MYLOGIN_BYTES_MAX {
        return Err(MyLoginError::TooLarge {
            file: name.to_owned(),
            bytes: bytes.len(),
            bytes_max: MYLOGIN_BYTES_MAX,
        });
    }
    let mut reader = Reader { bytes, offset: 0, name };
    reader.take(UNUSED_BYTES)?;
    let key = folded_key(reader.take(LOGIN_KEY_BYTES)?);
    // Each enciphered byte gives at most one plain byte, so the buffer never moves and leaves no copy behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(bytes.len()));
    while reader.offset < bytes.len() {
        let length_offset = reader.offset;
        let length = reader.length()?;
        let chunk_bytes = usize::try_from(length).unwrap_or(usize::MAX);
        let is_possible = (AES_BLOCK_BYTES..=CHUNK_BYTES_MAX).contains(&chunk_bytes)
            && chunk_bytes.is_multiple_of(AES_BLOCK_BYTES);
        if !is_possible {
            return Err(MyLoginError::BadLength {
                file: name.to_owned(),
                offset: length_offset,
                length,
                length_max: CHUNK_BYTES_MAX,
            });
        }
        let offset = reader.offset;
        let chunk = reader.take(chunk_bytes)?;
        let line = decrypt(Cipher::aes_128_ecb(), key.as_slice(), None, chunk)
            .map_err(|_| MyLoginError::Damaged { file: name.to_owned(), offset })?;
        plain.extend_from_slice(&Zeroizing::new(line));
    }
    Ok(plain)
}

/// A login file that holds this option file, as `mysql_config_editor` would write it. For tests and fixtures.
///
/// # Errors
/// [`MyLoginError::LineTooLong`]
pub fn encode(option_file: &[u8], key: &[u8; LOGIN_KEY_BYTES]) -> Result<Vec<u8>, MyLoginError> {
    let folded = folded_key(key);
    let mut file = vec![0; UNUSED_BYTES];
    file.extend_from_slice(key);
    for (index, line) in option_file.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let too_long = || MyLoginError::LineTooLong { line: index + 1, bytes: line.len() };
        if line.len() >= CHUNK_BYTES_MAX {
            return Err(too_long());
        }
        let chunk = encrypt(Cipher::aes_128_ecb(), folded.as_slice(), None, line).map_err(|_| too_long())?;
        let length = u32::try_from(chunk.len()).map_err(|_| too_long())?;
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&chunk);
    }
    Ok(file)
}

/// 20 bytes onto 16: the last four are added by XOR to the first four.
fn folded_key(key: &[u8]) -> Zeroizing<[u8; 16]> {
    let mut folded = Zeroizing::new([0; 16]);
    for part in key.chunks(folded.len()) {
        for (target, byte) in folded.iter_mut().zip(part) {
            *target ^= byte;
        }
    }
    folded
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
    name: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], MyLoginError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let taken = rest.get(..count).ok_or_else(|| MyLoginError::Truncated {
            file: self.name.to_owned(),
            offset: self.offset,
            needed_bytes: count,
            left_bytes: rest.len(),
        })?;
        self.offset += count;
        Ok(taken)
    }

    fn length(&mut self) -> Result<u32, MyLoginError> {
        let bytes = self.take(LENGTH_BYTES)?;
        Ok(bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; LOGIN_KEY_BYTES] =
        *b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14";

    // The cipher text comes from another program, so that a mistake made twice here would not agree with it:
    // printf '[client]\n' | openssl enc -aes-128-ecb -K 1010101005060708090a0b0c0d0e0f10
    const CLIENT_LINE: [u8; 16] = *b"\xf2\xd6\x4a\x89\xa9\x33\xcf\xf9\x94\x6f\xa9\x19\x6b\x94\x41\x27";

    #[test]
    fn reads_what_the_openssl_program_enciphered() {
        let mut file = vec![0; 4];
        file.extend(KEY);
        file.extend([16, 0, 0, 0]);
        file.extend(CLIENT_LINE);
        assert_eq!(decode(&file, "f").expect("is fine").as_slice(), b"[client]\n");
        assert_eq!(encode(b"[client]\n", &KEY).expect("is short"), file);
    }

    #[test]
    fn every_cut_is_an_error_or_whole_lines() {
        let text = b"[client]\nuser = \"root\"\npassword = \"geheim\"\n";
        let file = encode(text, &KEY).expect("is short");
        for end in 0..file.len() {
            match decode(file.get(..end).expect("end is within"), "f") {
                Ok(plain) => {
                    assert!(text.starts_with(&plain) && (plain.is_empty() || plain.ends_with(b"\n")));
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("why:") && error.contains("next:") && !error.contains("geheim"));
                }
            }
        }
    }

    #[test]
    fn refuses_lengths_that_cannot_be() {
        for length in [0_u32, 15, 17, 8192, u32::MAX] {
            let file = [&[0; 24][..], &length.to_le_bytes(), &[0; 64]].concat();
            assert!(matches!(decode(&file, "f"), Err(MyLoginError::BadLength { offset: 24, .. })));
        }
        assert!(matches!(decode(&vec![0; MYLOGIN_BYTES_MAX + 1], "f"), Err(MyLoginError::TooLarge { .. })));
        assert!(matches!(encode(&[b'x'; 5000], &KEY), Err(MyLoginError::LineTooLong { line: 1, .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes, "f");
        }

        #[test]
        fn what_was_enciphered_is_deciphered(text in "[\\x01-\\x7f]{0,300}", key in any::<[u8; LOGIN_KEY_BYTES]>()) {
            let file = encode(text.as_bytes(), &key).expect("lines are short");
            let plain = decode(&file, "f").expect("is whole");
            prop_assert_eq!(plain.as_slice(), text.as_bytes());
        }
    }
}

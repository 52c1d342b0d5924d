//! One gzip file as a whole, for changelogs of packages: no larger than the caller allows. And the beginning of one, to see what it is.
//!
//! # Source
//! RFC 1952. The checksum at its end is compared, since an answer hangs on what is not in the text too.

use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GzipError {
    #[error("it is no gzip file")]
    NotGzip,
    #[error("it ends too early, or is damaged")]
    Damaged,
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
}

const FIXED_BYTES: usize = 10;
const TRAILER_BYTES: usize = 8;
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// # Errors
/// It is none, is damaged, or holds more than `bytes_max`.
pub fn inflate(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, GzipError> {
    let body = behind_header(bytes)?;
    let plain = miniz_oxide::inflate::decompress_to_vec_with_limit(body, bytes_max).map_err(|error| {
        match error.status {
            miniz_oxide::inflate::TINFLStatus::HasMoreOutput => GzipError::TooLarge(bytes_max),
            _ => GzipError::Damaged,
        }
    })?;
    let trailer = bytes.last_chunk::<TRAILER_BYTES>().ok_or(GzipError::Damaged)?;
    let (crc, length) = trailer.split_at(TRAILER_BYTES / 2);
    let is_whole = crc == crc32fast::hash(&plain).to_le_bytes()
        && u32::try_from(plain.len()).is_ok_and(|bytes| length == bytes.to_le_bytes());
    if is_whole { Ok(plain) } else { Err(GzipError::Damaged) }
}

/// What the first bytes of a gzip file begin with, as far as they go; nothing where it is none.
pub fn inflate_start(bytes: &[u8], bytes_max: usize) -> Vec<u8> {
    let body = behind_header(bytes).unwrap_or_default();
    match miniz_oxide::inflate::decompress_to_vec_with_limit(body, bytes_max) {
        Ok(plain) => plain,
        // It goes on behind these bytes, or has more than was asked for.
        Err(error) => error.output,
    }
}

fn behind_header(bytes: &[u8]) -> Result<&[u8], GzipError> {
    let (fixed, mut rest) = bytes.split_first_chunk::<FIXED_BYTES>().ok_or(GzipError::NotGzip)?;
    let [0x1f, 0x8b, 8, flags, ..] = *fixed else { return Err(GzipError::NotGzip) };
    if flags & EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk::<2>().ok_or(GzipError::Damaged)?;
        rest = behind.get(usize::from(u16::from_le_bytes(*length))..).ok_or(GzipError::Damaged)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|&byte| byte == 0).ok_or(GzipError::Damaged)?;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..).ok_or(GzipError::Damaged)?;
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(plain: &[u8], flags: u8, extra: &[u8]) -> Vec<u8> {
        let head = [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 2, 3][..], extra].concat();
        let length = u32::try_from(plain.len()).expect("short").to_le_bytes();
        let body = miniz_oxide::deflate::compress_to_vec(plain, 6);
        [&head[..], &body, &crc32fast::hash(plain).to_le_bytes(), &length].concat()
    }

    #[test]
    fn every_header_is_understood_and_damage_is_told() {
        let plain = b"openssl (3.0.2-0ubuntu1.10) jammy-security; urgency=medium\n".repeat(50);
        for (flags, extra) in [
            (0, &b""[..]),
            (NAME, b"changelog.Debian\0"),
            (EXTRA | NAME | COMMENT | HEADER_CRC, b"\x03\0abcname\0comment\0cc"),
        ] {
            let file = packed(&plain, flags, extra);
            assert_eq!(inflate(&file, 1 << 20).as_deref(), Ok(&plain[..]), "{flags}");
            assert_eq!(inflate(&file, 100), Err(GzipError::TooLarge(100)));
            for cut in 0..file.len() {
                assert!(inflate(&file[..cut], 1 << 20).is_err(), "{cut} of {}", file.len());
            }
            let mut odd = file.clone();
            let at = odd.len() - 6;
            odd[at] ^= 1;
            assert_eq!(inflate(&odd, 1 << 20), Err(GzipError::Damaged), "its checksum is another");
        }
        assert_eq!(inflate(b"openssl (3.0.2)", 100), Err(GzipError::NotGzip));
    }
}
